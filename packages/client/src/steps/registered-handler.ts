import type { McpClient } from '../model/mcp-client-types.ts';
import type { SagaStep } from '../model/wire-types.ts';

/** Handler that the host registered with `setRequestHandler`. */
export type RegisteredHandler = (step: SagaStep, signal: AbortSignal) => Promise<unknown>;

/**
 * Returns the handler registered on the client, with the validation of the SDK. Reads the private
 * `_requestHandlers`, since both SDKs offer no other way to run a handler.
 */
export function registeredHandler(
  client: McpClient,
  method: string,
): RegisteredHandler | undefined {
  const handlers: unknown = Reflect.get(client, '_requestHandlers');
  const handler: unknown = handlers instanceof Map ? handlers.get(method) : undefined;
  if (!isHandler(handler)) return undefined;
  return async (step, signal) => {
    const params = paramsFor(step);
    const request = {
      jsonrpc: '2.0',
      id: step.stepId,
      method,
      ...(params === undefined ? {} : { params }),
    };
    return handler(request, contextFor(client, request, signal));
  };
}

function isHandler(value: unknown): value is (request: object, context: object) => unknown {
  return typeof value === 'function';
}

/** Returns the parameters for a handler without saga support. */
function paramsFor(step: SagaStep): SagaStep['params'] {
  if (step.type !== 'elicitation') return step.params;
  const { params, reason, stepId } = step;
  return {
    // Revisions before 2026-07-28 require the ID.
    ...(params.mode === 'url'
      ? { ...params, elicitationId: params.elicitationId ?? stepId }
      : params),
    // The handler receives parameters only, so the message contains the reason of a repeated
    // question.
    message: reason === undefined ? params.message : `${reason}\n\n${params.message}`,
  };
}

interface HandlerRequest {
  readonly id: string;
  readonly method: string;
  readonly params?: { _meta?: { [key: string]: unknown } };
}

/** Returns the context of the SDK for a request, without a peer for messages. */
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
  return Promise.reject(new Error('A handler of a saga step cannot send related messages'));
}
