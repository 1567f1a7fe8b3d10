import type { Program } from '@mcp-saga/core';
import { principalOf } from '../requests/open-for-caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { isVersion2, toCaller, type McpServerLike, intercept } from './sdk.ts';
import { sagaTokenRefused, toWireError } from '../wire/wire-error.ts';

// Set by `completable` in both versions of the SDK.
const completableMark = Symbol.for('mcp.completable');

const invalidParams = -32602;

/**
 * Returns the schema from which an SDK completes the arguments of a prompt; undefined if no
 * argument is `completable`.
 */
export function completableArguments(
  server: McpServerLike,
  { input }: Program,
): object | undefined {
  const { shape } = Object(input) as { readonly shape?: object };
  const fields = Object.entries(shape ?? {})
    .map(([name, field]) => [name, toCompletable(field)] as const)
    .filter(([, field]) => field !== undefined);
  if (fields.length === 0) return undefined;
  // Version 1 takes fields, and does not complete optional fields.
  return isVersion2(server) ? input : Object.fromEntries(fields);
}

/** Finds the `completable` schema of a field, even inside an optional schema. */
function toCompletable(field: unknown): object | undefined {
  const schema = Object(field) as { unwrap?: () => unknown };
  const inner = Object(schema.unwrap?.()) as object;
  return [schema, inner].find((candidate) => completableMark in candidate);
}

/**
 * Completes arguments only for callers that may use the saga. Hides error messages of completions
 * from clients.
 */
export function attachCompletions(host: SagaHostCore, server: McpServerLike): void {
  const refs = new Map(
    host.sagas.flatMap((saga): readonly (readonly [string, Program])[] => {
      if (saga.resource?.complete !== undefined) return [[saga.resource.template.text, saga]];
      const isCompleted =
        saga.serves === 'prompt' && completableArguments(server, saga) !== undefined;
      return isCompleted ? [[saga.name, saga]] : [];
    }),
  );
  if (refs.size === 0) return;
  intercept(server, 'completion/complete', async (request, context, next) => {
    const { name, uri } = Object(request.params?.['ref']) as { name?: string; uri?: string };
    const saga = refs.get(String(name ?? uri));
    try {
      if (saga !== undefined) {
        const caller = toCaller(host, server, context);
        await principalOf(caller, host.gate);
        if (!(await host.gate.authorize(caller, saga)))
          throw new SagaHostError('forbidden', `Not allowed: ${saga.name}`);
      }
      return await next(request, context);
    } catch (error) {
      if (isRefusal(error) || saga === undefined) throw error;
      throw toWireError(error, sagaTokenRefused, host.observer.hooks.onError);
    }
  });
}

/**
 * `true` for an error of the SDK about invalid references and params. Other errors may contain
 * secrets.
 */
function isRefusal(error: unknown): boolean {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  return code === invalidParams && (name === 'McpError' || name === 'ProtocolError');
}
