/**
 * Answers a request of MCP 2026-07-28 without a server of the SDK, which is made anew for each
 * request and takes half of its time. `direct-request.ts` reads calls of tools and saga methods, in
 * each form that clients send, and leaves every other request to `sdk-serving.ts`. Both ways give the
 * same response, which the property tests compare: `direct-response.ts` writes it, and
 * `late-stream.ts` turns it into a stream of events with the first notification.
 */
import { logLevels, present } from '@mcp-saga/core/program';
import type { LogLevel, User } from '@mcp-saga/core';
import { callSagaMethod, toolNamed } from '../mcp/attach-saga-methods.ts';
import { paramHeadersOf } from '../mcp/param-headers.ts';
import type { ClientSource, RequestContextLike } from '../mcp/sdk.ts';
import { callTool } from '../mcp/tools.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toDirectRequest, type DirectRequest } from './direct-request.ts';
import { encodeError, encodeResult, toResponse, type ServerInfo } from './direct-response.ts';
import { defaultKeepAliveMs, LateStream } from './late-stream.ts';
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
  { keepAliveMs = defaultKeepAliveMs, responseMode }: StreamOptions = {},
): Promise<Response> | undefined {
  const { request, parsedBody } = served;
  const asked = toDirectRequest(request, parsedBody);
  if (asked === undefined) return undefined;
  const answer = toAnswer(host, asked, served);
  if (answer === undefined) return undefined;
  const { signal: left } = request;
  if (left.aborted) return Promise.resolve(toResponse(undefined));
  const stream =
    asked.isNotified && responseMode !== 'json'
      ? new LateStream({ signal: left, keepAliveMs })
      : undefined;
  const signal = stream?.signal ?? left;
  const notify = (notification: object): void => stream?.notify(notification);
  const answered = answer({ signal, notify }).then(
    (result) => (signal.aborted ? undefined : encodeResult(asked, result, serverInfo)),
    (error: unknown) => (signal.aborted ? undefined : encodeError(asked, error)),
  );
  return stream?.respond(answered, toResponse) ?? answered.then(toResponse);
}

/** Options of the SDK's handler that direct responses follow, too. */
export interface StreamOptions {
  /** Milliseconds between two comments in an idle stream. */
  readonly keepAliveMs?: number | undefined;
  /** `json` drops notifications, so that each response is one body. */
  readonly responseMode?: 'auto' | 'json' | 'sse' | undefined;
}

/** What a handler gets of the connection. */
interface Connection {
  readonly signal: AbortSignal;
  readonly notify: (notification: object) => void;
}

function toAnswer(
  host: SagaHostCore,
  asked: DirectRequest,
  served: ServedRequest,
): ((connection: Connection) => Promise<object>) | undefined {
  const { method, params } = asked;
  const isTool = method === 'tools/call';
  const saga = isTool ? toolNamed(host, params['name']) : undefined;
  if (isTool && (saga === undefined || paramHeadersOf(saga).length > 0)) return undefined;
  const { waitUntil } = served;
  return (connection) => {
    const context = toContext(asked, served, connection);
    if (saga === undefined) return callSagaMethod(host, noSession, { method, params, context });
    const call = { saga, request: { method, params }, waitUntil, context };
    return callTool(host, noSession, call);
  };
}

/** Makes the context of a handler. */
function toContext(
  { id, meta, envelope, requestState, inputResponses, logLevel }: DirectRequest,
  { request, user }: ServedRequest,
  { signal, notify }: Connection,
): RequestContextLike {
  return {
    mcpReq: {
      id,
      envelope,
      signal,
      requestState: () => requestState,
      notify: async (notification) => notify(notification),
      log: async (level, data) => {
        if (logLevel === undefined || isLessSevere(level, logLevel)) return;
        notify({ method: 'notifications/message', params: { level, data } });
      },
      ...present({ _meta: meta, inputResponses }),
    },
    http: { req: request, ...present({ authInfo: user }) },
  };
}

function isLessSevere(level: LogLevel, than: LogLevel): boolean {
  return logLevels.indexOf(level) < logLevels.indexOf(than);
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
