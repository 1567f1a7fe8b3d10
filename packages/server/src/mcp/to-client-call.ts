import type { Program, Json } from '@mcp-saga/core';
import type { CallMethod, ClientCall, ClientFacts } from '../model/client-call.ts';
import type { Caller } from '../model/caller.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import type { RequestLike } from './intercept.ts';
import { notifierOf, senderOf, type ClientSource, type RequestContextLike, capabilitiesOf } from './sdk.ts';
import { asksOf } from '../wire/step-requests.ts';

/** A request to a saga, with all that dialects need to know of it. */
export function toClientCall(
  server: ClientSource,
  saga: Program,
  {
    request,
    args,
    context,
    caller,
    toResult,
    waitUntil = () => undefined,
  }: {
    readonly request: RequestLike;
    /** The arguments as received. */
    readonly args: unknown;
    readonly context: RequestContextLike;
    readonly caller: Caller;
    readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
    readonly toResult: (saga: string, turn: CompletedTurn | FailedTurn) => object;
  },
): ClientCall {
  const { mcpReq } = context;
  return {
    method: request.method as CallMethod,
    saga,
    args,
    params: request.params ?? {},
    meta: mcpReq?.['_meta'] ?? context['_meta'] ?? {},
    id: mcpReq?.id ?? context.requestId ?? '',
    client: clientFactsOf(server, context),
    caller,
    requestState: mcpReq?.requestState?.(),
    inputResponses: inputResponsesOf(mcpReq),
    send: senderOf(context),
    notify: notifierOf(context),
    waitUntil,
    toResult: (turn) => toResult(saga.name, turn),
  };
}

/** Responses as received. The SDK removes those that cannot be results; null makes their steps ask again. */
function inputResponsesOf(request: RequestContextLike['mcpReq']): unknown {
  const { inputResponses, droppedInputResponseKeys: dropped = [] } = request ?? {};
  if (dropped.length === 0) return inputResponses;
  return Object.fromEntries([
    ...Object.entries(Object(inputResponses) as object),
    ...dropped.map((key) => [key, null] as const),
  ]);
}

const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** What a request tells of its client. */
export function clientFactsOf(server: ClientSource, context: RequestContextLike): ClientFacts {
  const capabilities: Json | undefined = capabilitiesOf(server, context);
  // Some clients send other parts of it in the older era as well.
  const era = context.mcpReq?.envelope?.[protocolVersionKey] === undefined ? 'legacy' : 'modern';
  const overHttp = context.http?.req !== undefined || context.requestInfo !== undefined;
  return {
    era,
    // Over HTTP without a session each request meets a server that never saw the client's other ones.
    isSession: era === 'legacy' && (!overHttp || context.sessionId !== undefined),
    capabilities,
    asks: asksOf(capabilities),
  };
}
