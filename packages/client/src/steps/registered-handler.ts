import type { McpClient } from '../model/mcp-client.ts';
import type { SagaStep } from '../model/wire.ts';

/** A handler that the host registered on its client with `setRequestHandler`. */
export type RegisteredHandler = (step: SagaStep, signal: AbortSignal) => Promise<unknown>;

/**
 * Returns the handler registered on the client, with the SDK's validation around it. The only reader of private parts: both SDKs
 * have their handlers in `_requestHandlers`, and offer no other way to run one.
 */
export function registeredHandler(client: McpClient, method: string): RegisteredHandler | undefined {
  const handlers: unknown = Reflect.get(client, '_requestHandlers');
  const handler: unknown = handlers instanceof Map ? handlers.get(method) : undefined;
  if (!isHandler(handler)) return undefined;
  return async (step, signal) => {
    const params = paramsFor(step);
    const request = { jsonrpc: '2.0', id: step.stepId, method, ...(params === undefined ? {} : { params }) };
    return handler(request, contextFor(client, request, signal));
  };
}

function isHandler(value: unknown): value is (request: object, context: object) => unknown {
  return typeof value === 'function';
}

/** The parameters as a handler that knows nothing of sagas needs them. */
function paramsFor(step: SagaStep): SagaStep['params'] {
  if (step.type !== 'elicitation') return step.params;
  const { params, reason, stepId } = step;
  return {
    // The revisions before 2026-07-28 demand the id, and their SDKs refuse a page without one.
    ...(params.mode === 'url' ? { ...params, elicitationId: params.elicitationId ?? stepId } : params),
    // Parameters are all it sees, so the user is told why the form comes back where the form says what for.
    message: reason === undefined ? params.message : `${reason}\n\n${params.message}`,
  };
}

interface HandlerRequest {
  readonly id: string;
  readonly method: string;
  readonly params?: { _meta?: { [key: string]: unknown } };
}

/** The context that the SDK would have given for a request from the wire; there is no peer to send anything to. */
function contextFor(client: McpClient, request: HandlerRequest, signal: AbortSignal): object {
  const { id, method } = request;
  const meta = request.params?.['_meta'];
  if ('getProtocolEra' in client && typeof client.getProtocolEra === 'function') {
    return {
      mcpReq: {
        id,
        method,
        _meta: meta,
        signal,
        requestState: () => undefined,
        send: noPeer,
        notify: noPeer,
      },
    };
  }
  return { requestId: id, _meta: meta, signal, sendRequest: noPeer, sendNotification: noPeer };
}

function noPeer(): Promise<never> {
  return Promise.reject(
    new Error('A step of a saga is fulfilled here: there is no request to relate messages to'),
  );
}
