import type { ClientKey } from '../model/caller.ts';
import type { ClientSource, RequestContextLike } from './sdk.ts';

/** Field of `_meta` in which a client names its call. */
const idempotencyKeyField = 'io.github.mcp-saga/idempotencyKey';

/** HTTP header for the same, as other APIs have it. */
const idempotencyKeyHeader = 'idempotency-key';

/** Fields of `_meta` by which a host names each use of a tool, with their forms. */
type KeyOfHost = readonly (readonly [field: string, form: RegExp])[];

/** What `pnpm hosts` has seen of real hosts. All fields of a host make its key. */
const keysOfHosts: readonly KeyOfHost[] = [
  // Claude Code
  [['claudecode/toolUseId', /^toolu_[\w-]{16,128}$/]],
  // Codex: the ID of a call is unique in its thread.
  [
    ['threadId', /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/],
    ['callId', /^call_[\w-]{8,128}$/],
  ],
];

/**
 * Reads the key by which the client of a request names it: a field of `_meta`, a header, or what a
 * known host sends. Undefined if there is none.
 */
export function clientKeyOf(
  client: ClientSource,
  context: RequestContextLike,
): ClientKey | undefined {
  const meta = context.mcpReq?.['_meta'] ?? context['_meta'] ?? {};
  const sent = meta[idempotencyKeyField] ?? headerOf(context);
  if (sent !== undefined) return { key: sent as string, from: 'client', isLocal: isLocal(client) };
  for (const fields of keysOfHosts) {
    const values = fields.map(([field]) => meta[field]);
    if (fields.every(([, form], index) => isOfForm(values[index], form)))
      return { key: values.join(' '), from: 'host', isLocal: isLocal(client) };
  }
  return undefined;
}

function isOfForm(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value);
}

/** `true` if the client has started this process, and is its only one. */
function isLocal({ server: { transport } }: ClientSource): boolean {
  const { _wire: wire, _stdin: input } = Object(transport) as {
    readonly _stdin?: unknown;
    /** Transport below that of `serveStdio`. */
    readonly _wire?: { readonly _stdin?: unknown };
  };
  const { _stdin: below } = wire ?? {};
  return (input ?? below) !== undefined;
}

/** Reads the header of a request in version 2 (`http.req`) or version 1 of the SDK. */
function headerOf({ http, requestInfo }: RequestContextLike): unknown {
  const { headers } = Object(http?.req ?? requestInfo) as {
    readonly headers?: {
      readonly get?: (name: string) => string | null;
      readonly [name: string]: unknown;
    };
  };
  if (typeof headers?.get === 'function') return headers.get(idempotencyKeyHeader) ?? undefined;
  return headers?.[idempotencyKeyHeader];
}
