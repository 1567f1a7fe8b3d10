import { present } from '@mcp-saga/core/program';
import { callSagaMethod, toolNamed } from '../mcp/attach-saga-methods.ts';
import { hasParamHeaders } from '../mcp/param-headers.ts';
import type { ClientSource, RequestContextLike } from '../mcp/sdk.ts';
import { callTool } from '../mcp/tools.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toDirectRequest, type DirectRequest } from './direct-request.ts';
import { encodeError, encodeResult, type ServerInfo } from './encode-answer.ts';
import type { ServedRequest } from './served-request.ts';

// Each request says what its client can do.
const noSession: ClientSource = { server: { getClientCapabilities: () => undefined } };

/** Answers a request to a saga without an `McpServer`, which costs more than a turn. Undefined if only the SDK can answer. */
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
  return unlessAborted(request.signal, () =>
    answer().then(
      (result) => encodeResult(asked, result, serverInfo),
      (error: unknown) => encodeError(asked, error),
    ),
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
  if (isTool && (saga === undefined || hasParamHeaders(saga))) return undefined;
  const stepContext = toStepContext(served);
  if (stepContext === undefined) return undefined;
  const call = { ...stepContext, context: toContext(asked, served) };
  if (saga === undefined) return () => callSagaMethod(host, noSession, { ...call, method, params });
  const { waitUntil } = served;
  return () => callTool(host, noSession, { ...call, saga, request: { method, params }, waitUntil });
}

/** The context of the author; undefined if it throws: the SDK reports the error of a server that cannot be made. */
function toStepContext({ stepContext }: ServedRequest): { readonly stepContext: unknown } | undefined {
  try {
    return { stepContext: stepContext() };
  } catch {
    return undefined;
  }
}

/** What the SDK hands to a handler beside the params. No notification is due: clients that get some are left to the SDK. */
function toContext(
  { id, meta, envelope, requestState, inputResponses }: DirectRequest,
  { request, authInfo }: ServedRequest,
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
    http: { req: request, ...present({ authInfo }) },
  };
}

/** Answers 499 as soon as the client is gone, as the SDK does. */
function unlessAborted(signal: AbortSignal, answer: () => Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(new Response(null, { status: 499 }));
    if (signal.aborted) {
      leave();
      return;
    }
    signal.addEventListener('abort', leave, { once: true });
    void answer()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave));
  });
}
