import { mayHaveUndos, type HostParts } from '../settings/host-parts.ts';
import type { Program } from '@mcp-saga/core';
import { callSaga, cancelSaga, resumeSaga, sagaMethods } from '../dialects/saga-methods.ts';
import type { Caller } from '../model/caller.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { servedAs } from '../settings/registry.ts';
import { assertParamHeaders } from './param-headers.ts';
import {
  setMethodHandler,
  type ClientSource,
  type McpServerLike,
  type RequestContextLike,
} from './sdk.ts';
import { withCaller, clientFactsOf } from './answer-call.ts';
import { sagaTokenRefused, toWireError } from '../wire/wire-error.ts';

type Method = (host: SagaHostCore, params: unknown, caller: Caller) => Promise<object>;

const handlers: ReadonlyMap<string, Method> = new Map([
  [sagaMethods.call, callSaga],
  [sagaMethods.resume, resumeSaga],
  [sagaMethods.cancel, cancelSaga],
]);

/** Registers the saga methods. */
export function attachMethods(host: SagaHostCore, server: McpServerLike): void {
  for (const method of handlers.keys())
    setMethodHandler(server, method, (params, context) =>
      callSagaMethod(host, server, { method, params, context }),
    );
}

/** Request of a saga method. */
export interface SagaMethodCall {
  readonly method: string;
  readonly params: unknown;
  readonly context: RequestContextLike;
}

/** Answers a request of a saga method. Throws WireError. */
export async function callSagaMethod(
  host: SagaHostCore,
  client: ClientSource,
  { method, params, context }: SagaMethodCall,
): Promise<object> {
  const handle = handlers.get(method);
  if (handle === undefined) throw new TypeError(`There is no saga method ${method}.`);
  try {
    if (method === sagaMethods.call) assertHeaders(host, client, params, context);
    return await withCaller(host, client, context, (caller) => handle(host, params, caller));
  } catch (error) {
    throw toWireError(error, sagaTokenRefused, host.observer.hooks.onError);
  }
}

/** Checks the headers of a request. Clients of older versions do not send them. */
function assertHeaders(
  host: SagaHostCore,
  client: ClientSource,
  params: unknown,
  context: RequestContextLike,
): void {
  const { name, arguments: args } = Object(params) as {
    readonly name?: unknown;
    readonly arguments?: unknown;
  };
  const saga = toolNamed(host, name);
  if (saga !== undefined && clientFactsOf(client, context).era === 'modern')
    assertParamHeaders(saga, args, context);
}

/** Finds the saga that serves a tool of this name. */
export function toolNamed(
  { registry }: Pick<SagaHostCore, 'registry'>,
  name: unknown,
): Program | undefined {
  const saga = typeof name === 'string' ? registry.named(name) : undefined;
  return saga !== undefined && servedAs(saga) === 'tool' ? saga : undefined;
}

/** Returns the sagas that are tools, as served by the saga methods. */
export function toolsOf(sagas: readonly Program[]): readonly Program[] {
  return sagas.filter((saga) => servedAs(saga) === 'tool');
}

/**
 * Returns the tools that a server for one request needs, because to register a tool takes
 * microseconds: all for a list, the one that is called, and for the capability at least one.
 */
export function toolsFor(host: SagaHostCore, body: unknown): readonly Program[] {
  const tools = toolsOf(host.sagas);
  const { method, params } = Object(body) as {
    readonly method?: unknown;
    readonly params?: unknown;
  };
  // A body that nobody has read, or a batch, may ask for anything.
  if (typeof method !== 'string' || method === 'tools/list') return tools;
  const { name } = Object(params) as { readonly name?: unknown };
  const called = method === 'tools/call' ? toolNamed(host, name) : undefined;
  return called === undefined ? tools.slice(0, 1) : [called];
}

/** Returns the methods of sagas. Cancellation requires a saga that may have undos. */
export function methodsOf(
  host: Pick<HostParts, 'guard'>,
  sagas: readonly Program[],
): readonly string[] {
  const { call, resume, cancel } = sagaMethods;
  return sagas.some((saga) => mayHaveUndos(host, saga)) ? [call, resume, cancel] : [call, resume];
}
