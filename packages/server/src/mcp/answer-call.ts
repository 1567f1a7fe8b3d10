import type { ClientCall, CallMethod, ClientFacts } from '../model/call-types.ts';
import { dialectOf } from '../dialects/dialects.ts';
import { answerResumably } from '../dialects/resumable-requests.ts';
import { hostFor, type SagaHostCore } from '../requests/host.ts';
import { toWireError } from '../wire/wire-error.ts';
import type { Caller } from '../model/caller.ts';
import { callConnectionOf } from './call-connection.ts';
import { clientKeyOf } from './client-key.ts';
import { limitedProgress } from './limited-progress.ts';
import {
  toCaller,
  type ClientSource,
  type RequestContextLike,
  notifierOf,
  senderOf,
  capabilitiesOf,
  eraOf,
  type RequestLike,
} from './sdk.ts';
import type { ClientNeed, Program, Json } from '@mcp-saga/core';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { asksOf } from '../wire/step-requests.ts';

/** Request to a saga by one of MCP's own methods. */
export interface CallOfClient {
  readonly context: RequestContextLike;
  readonly saga: Program;
  readonly request: RequestLike;
  /** Default: the arguments of the request. */
  readonly args?: unknown;
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  readonly toResult: (saga: string, turn: CompletedTurn | FailedTurn) => object;
}

/**
 * Answers a request to a saga in the dialect of its client. Throws a WireError if `toErrorResult`
 * has no result for an error.
 */
export async function answerCall(
  host: SagaHostCore,
  client: ClientSource,
  given: CallOfClient,
  toErrorResult: (error: unknown, call: ClientCall) => object | undefined = () => undefined,
): Promise<object> {
  return await withCaller(host, client, given.context, async (caller) => {
    const call = toClientCall(client, given, caller);
    const dialect = dialectOf(call, host);
    try {
      return await answerResumably(await hostFor(host, caller), call, dialect);
    } catch (error) {
      const result = toErrorResult(error, call);
      if (result !== undefined) return result;
      throw toWireError(error, dialect.refused, host.observer.hooks.onError);
    }
  });
}

/** Answers a request with its caller. Sends progress only before the response. */
export async function withCaller<T>(
  host: Pick<SagaHostCore, 'timing' | 'gate'>,
  client: ClientSource,
  context: RequestContextLike,
  answer: (caller: Caller) => Promise<T>,
): Promise<T> {
  const caller: Caller = {
    ...toCaller(host, client, context),
    clientKey: () => clientKeyOf(client, context),
  };
  if (caller.progress === undefined) return await answer(caller);
  const progress = limitedProgress(caller.progress, host.timing.clock);
  try {
    return await answer({
      ...caller,
      progress: (value) => progress.report(value),
      flushProgress: () => progress.flush(),
    });
  } finally {
    progress.end();
  }
}

/** Converts a request to a saga to its form for dialects. */
export function toClientCall(
  client: ClientSource,
  {
    saga,
    request,
    args = request.params?.['arguments'],
    context,
    toResult,
    waitUntil = () => undefined,
  }: CallOfClient,
  caller: Caller,
): ClientCall {
  const { mcpReq } = context;
  return {
    method: request.method as CallMethod,
    saga,
    args,
    params: request.params ?? {},
    meta: mcpReq?.['_meta'] ?? context['_meta'] ?? {},
    id: mcpReq?.id ?? context.requestId ?? '',
    client: clientFactsOf(client, context),
    caller,
    connection: callConnectionOf(client, context),
    requestState: mcpReq?.requestState?.(),
    inputResponses: inputResponsesOf(mcpReq),
    send: senderOf(context),
    notify: notifierOf(context),
    waitUntil,
    toResult: (turn) => toResult(saga.name, turn),
  };
}

/**
 * Returns the responses as received. The SDK removes invalid responses; null makes their steps ask
 * again.
 */
function inputResponsesOf(request: RequestContextLike['mcpReq']): unknown {
  const { inputResponses, droppedInputResponseKeys: dropped = [] } = request ?? {};
  if (dropped.length === 0) return inputResponses;
  return Object.fromEntries([
    ...Object.entries(Object(inputResponses) as object),
    ...dropped.map((key) => [key, null] as const),
  ]);
}

/** Returns the facts about the client of a request. */
export function clientFactsOf(server: ClientSource, context: RequestContextLike): ClientFacts {
  const capabilities: Json | undefined = capabilitiesOf(server, context);
  const era = eraOf(context);
  const overHttp = context.http?.req !== undefined || context.requestInfo !== undefined;
  const lacking = lackingIn(server);
  return {
    era,
    // Over HTTP without a session, each request reaches a new server.
    isSession: era === 'legacy' && (!overHttp || context.sessionId !== undefined),
    // Only version 2 of the SDK has this part of the context.
    canBeModern: context.mcpReq !== undefined,
    capabilities,
    // Read again in each turn of a call, because a turn may have asked in vain.
    get asks() {
      return asksOf(capabilities).filter((need) => !lacking.has(need));
    },
    noteLacking: (need) => void lacking.add(need),
  };
}

/** Capabilities that the client of a session declared, and does not have. */
const lackingNeeds = new WeakMap<ClientSource, Set<ClientNeed>>();

function lackingIn(server: ClientSource): Set<ClientNeed> {
  const known = lackingNeeds.get(server);
  if (known !== undefined) return known;
  const made = new Set<ClientNeed>();
  lackingNeeds.set(server, made);
  return made;
}
