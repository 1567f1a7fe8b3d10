/**
 * Answers a request of MCP 2026-07-28 without a server of the SDK, which is made anew for each
 * request and takes half of its time. `direct-request.ts` reads only requests that the SDK would
 * answer with one JSON body, and leaves every other one to `sdk-serving.ts`. Both ways give the
 * same response, which the property tests compare; `direct-response.ts` writes it.
 */
import { present } from '@mcp-saga/core/program';
import type { User } from '@mcp-saga/core';
import { callSagaMethod, toolNamed } from '../mcp/attach-saga-methods.ts';
import { paramHeadersOf } from '../mcp/param-headers.ts';
import type { ClientSource, RequestContextLike } from '../mcp/sdk.ts';
import { callTool } from '../mcp/tools.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toDirectRequest, type DirectRequest } from './direct-request.ts';
import { encodeError, encodeResult, type ServerInfo } from './direct-response.ts';
import type { ReadRequest } from '../http/json-body.ts';

// Each request declares the capabilities of its client.
const noSession: ClientSource = { server: { getClientCapabilities: () => undefined } };

/**
 * Responds to a request without an `McpServer`, which costs more than a turn. Returns undefined if
 * only the SDK can respond.
 */
export function serveDirectly(
  host: SagaHostCore,
  serverInfo: ServerInfo,
  served: ServedRequest,
): Promise<Response> | undefined {
  const { request, parsedBody } = served;
  const asked = toDirectRequest(request, parsedBody);
  if (asked === undefined) return undefined;
  const answer = toAnswer(host, asked, served);
  if (answer === undefined) return undefined;
  const { signal } = request;
  // As the SDK answers a disconnected client.
  const disconnected = { status: 499 };
  if (signal.aborted) return Promise.resolve(new Response(null, disconnected));
  return answer().then(
    (result) =>
      signal.aborted ? new Response(null, disconnected) : encodeResult(asked, result, serverInfo),
    (error: unknown) =>
      signal.aborted ? new Response(null, disconnected) : encodeError(asked, error),
  );
}

function toAnswer(
  host: SagaHostCore,
  asked: DirectRequest,
  served: ServedRequest,
): (() => Promise<object>) | undefined {
  const { method, params } = asked;
  const isTool = method === 'tools/call';
  const saga = isTool ? toolNamed(host, params['name']) : undefined;
  if (isTool && (saga === undefined || paramHeadersOf(saga).length > 0)) return undefined;
  const call = { context: toContext(asked, served) };
  if (saga === undefined) return () => callSagaMethod(host, noSession, { method, params, ...call });
  const { waitUntil } = served;
  return () => callTool(host, noSession, { saga, request: { method, params }, waitUntil, ...call });
}

/**
 * Makes the context of a handler. Notifications are dropped: clients that want some are served by
 * the SDK.
 */
function toContext(
  { id, meta, envelope, requestState, inputResponses }: DirectRequest,
  { request, user }: ServedRequest,
): RequestContextLike {
  const { signal } = request;
  return {
    mcpReq: {
      id,
      envelope,
      signal,
      requestState: () => requestState,
      notify: async () => undefined,
      log: async () => undefined,
      ...present({ _meta: meta, inputResponses }),
    },
    http: { req: request, ...present({ authInfo: user }) },
  };
}

/** Request after the checks of its host, origin, and user. */
export interface ServedRequest extends ReadRequest {
  /** Result of `auth.authenticate`, if it is a user. */
  readonly user?: User;
  /** Environment of the runtime, for `services`. */
  readonly env: unknown;
  /** Keeps the runtime alive for work after the response. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
}
