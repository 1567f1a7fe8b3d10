import { type Program } from '@mcp-saga/core';
import { toJsonSchema } from '@mcp-saga/core/program';
import type { RequestContextLike } from './sdk.ts';
import { WireError } from '../wire/wire-error.ts';

const headerMismatch = -32_020;

/** Argument that clients repeat in an HTTP header, for proxies (SEP-2243). */
interface ParamHeader {
  readonly path: readonly string[];
  readonly header: string;
  readonly isNumber: boolean;
}

const declared = new WeakMap<Program, readonly ParamHeader[]>();

/**
 * Compares the `Mcp-Param-*` headers of `tools/callSaga` with its arguments. Otherwise, a proxy
 * could see other values than the tool. Throws WireError -32020. The SDK checks `tools/call` only.
 */
export function assertParamHeaders(
  saga: Program,
  args: unknown,
  context: RequestContextLike,
): void {
  const { headers } = (context.http?.req ?? {}) as { readonly headers?: Headers };
  if (headers === undefined) return;
  for (const { path, header, isNumber } of paramHeadersOf(saga)) {
    const value = path.reduce<unknown>((parent, key) => (Object(parent) as Fields)[key], args);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      continue;
    const shown = decoded(headers.get(header));
    const isSame =
      shown === String(value) ||
      (isNumber && /^-?\d+(\.\d+)?$/.test(shown ?? '') && Number(shown) === value);
    if (isSame) continue;
    const body = `the header ${header} is not the argument ${path.join('.')}`;
    throw new WireError(
      headerMismatch,
      `Bad Request: the request headers and body disagree: ${body}`,
      {
        mismatch: { header, body },
      },
    );
  }
}

interface Fields {
  readonly [key: string]: unknown;
}

export function paramHeadersOf(saga: Program): readonly ParamHeader[] {
  const known = declared.get(saga);
  if (known !== undefined) return known;
  const found = saga.input === undefined ? [] : headersIn(toJsonSchema(saga.input, 'input'), []);
  declared.set(saga, found);
  return found;
}

function headersIn({ properties }: Fields, path: readonly string[]): readonly ParamHeader[] {
  return Object.entries(Object(properties) as Fields).flatMap(([key, property]) => {
    const schema = Object(property) as Fields;
    const { 'x-mcp-header': name, type } = schema;
    const at = [...path, key];
    const own =
      typeof name === 'string'
        ? [
            {
              path: at,
              header: `Mcp-Param-${name}`,
              isNumber: type === 'integer' || type === 'number',
            },
          ]
        : [];
    return [...own, ...headersIn(schema, at)];
  });
}

/** Decodes a header that may be in base64. Returns undefined for invalid base64. */
function decoded(value: string | null): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value ?? '') ?? [];
  if (base64 === undefined) return value ?? undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
