import type { CallConnection } from '../model/call-types.ts';
import type { ClientSource, RequestContextLike } from './sdk.ts';

/**
 * Returns the connection of a request, as far as the transports of the SDKs reveal it.
 *
 * The SDKs abort a request if its client cancels it, or if the transport closes. Two losses reach
 * no request, so this function finds them by the structure of the transport:
 *
 * - In a session over HTTP, the client closes the response to its call. MCP does not call this a
 *   cancellation, because the client may fetch the rest of a stream later. That needs an event
 *   store, so with an event store a closed response means nothing.
 * - Over stdio in version 1, the client closes the input of the server. The transport then closes
 *   here as in version 2, which aborts each request: a response would be written into a broken pipe
 *   and end the process before the undo.
 *
 * Anything else that has this structure is unknown, and never counts as lost.
 */
export function callConnectionOf(
  { server: { transport } }: ClientSource,
  { mcpReq, http, requestId }: RequestContextLike,
): CallConnection {
  const { _webStandardTransport: inner, _stdin: input } = fieldsOf(transport);
  const web = fieldsOf(inner ?? transport);
  const id = mcpReq?.id ?? requestId;
  const { signal } = fieldsOf(http?.req) as { readonly signal?: AbortSignal };
  const isFinal = web['_eventStore'] === undefined;
  const isStreamLost = streamLoss(web, id);
  const isHttp = http?.req !== undefined || web['_requestToStreamMapping'] instanceof Map;
  return {
    line: isHttp ? undefined : (Object(transport) as object),
    isLost: () => isFinal && (signal?.aborted === true || isStreamLost()),
    watch: (onChange) => {
      signal?.addEventListener('abort', onChange);
      const unwatch = closeWithInput(transport, input);
      return () => {
        signal?.removeEventListener('abort', onChange);
        unwatch();
      };
    },
  };
}

interface Fields {
  readonly [name: string]: unknown;
}

function fieldsOf(value: unknown): Fields {
  return Object(value) as Fields;
}

/**
 * Returns a function that tells if the client has closed the stream of the response to a request. A
 * later request may have the same ID, and a stream of its own.
 */
function streamLoss(
  { _requestToStreamMapping: streamOf, _streamMapping: open }: Fields,
  id: unknown,
): () => boolean {
  if (!(streamOf instanceof Map) || !(open instanceof Map)) return () => false;
  const stream: unknown = streamOf.get(id);
  return () => stream !== undefined && !open.has(stream);
}

interface Input {
  readonly readableEnded?: boolean;
  readonly destroyed?: boolean;
  once(event: 'end' | 'close', listener: () => void): void;
  off(event: 'end' | 'close', listener: () => void): void;
}

/** Closes the transport of stdio when its input ends. Returns a function that stops this. */
function closeWithInput(transport: unknown, input: unknown): () => void {
  const { close } = fieldsOf(transport);
  if (!isInput(input) || typeof close !== 'function') return () => undefined;
  const onEnd = (): void => {
    void Promise.resolve(Reflect.apply(close, transport, [])).catch(() => undefined);
  };
  input.once('end', onEnd);
  input.once('close', onEnd);
  if (input.readableEnded === true || input.destroyed === true) onEnd();
  return () => {
    input.off('end', onEnd);
    input.off('close', onEnd);
  };
}

function isInput(value: unknown): value is Input {
  const { once, off } = fieldsOf(value);
  return typeof once === 'function' && typeof off === 'function';
}
