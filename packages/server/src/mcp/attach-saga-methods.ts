import type { Program } from '@mcp-saga/core';
import { callSaga, cancelSaga, resumeSaga, sagaMethods } from '../dialects/saga-methods.ts';
import type { Caller } from '../model/caller.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { servedAs } from '../settings/registry.ts';
import { clientFactsOf } from './to-client-call.ts';
import { assertParamHeaders } from './param-headers.ts';
import { setMethodHandler, type McpServerLike, type RequestContextLike } from './sdk.ts';
import { withCaller } from './answer-call.ts';
import { sagaTokenRefused, toWireError } from '../wire/wire-error.ts';

type Method = (host: SagaHostCore, params: unknown, caller: Caller) => Promise<object>;

/** Registers the saga methods. */
export function attachMethods(host: SagaHostCore, server: McpServerLike, stepContext: unknown): void {
  const register = (method: string, handle: Method): void =>
    setMethodHandler(server, method, async (params, context) => {
      const { clock } = host.timing;
      try {
        if (method === sagaMethods.call) assertHeaders(host, server, params, context);
        return await withCaller(server, context, { stepContext, clock }, (caller) =>
          handle(host, params, caller),
        );
      } catch (error) {
        throw toWireError(error, sagaTokenRefused, host.observer.hooks.onError);
      }
    });
  register(sagaMethods.call, callSaga);
  register(sagaMethods.resume, resumeSaga);
  register(sagaMethods.cancel, cancelSaga);
}

/** A client of an older spec has no such headers. */
function assertHeaders(
  { sagas }: SagaHostCore,
  server: McpServerLike,
  params: unknown,
  context: RequestContextLike,
): void {
  const { name, arguments: args } = Object(params) as {
    readonly name?: unknown;
    readonly arguments?: unknown;
  };
  const saga = toolsOf(sagas).find((tool) => tool.name === name);
  if (saga !== undefined && clientFactsOf(server, context).era === 'modern')
    assertParamHeaders(saga, args, context);
}

/** The sagas that are tools: what the saga methods serve. */
export function toolsOf(sagas: readonly Program[]): readonly Program[] {
  return sagas.filter((saga) => servedAs(saga) === 'tool');
}

/** The methods that some of these sagas offer: to cancel one, its author must have said what forks may do. (E7) */
export function methodsOf(sagas: readonly Program[]): readonly string[] {
  const { call, resume, cancel } = sagaMethods;
  return sagas.some(({ forks }) => forks !== undefined) ? [call, resume, cancel] : [call, resume];
}
