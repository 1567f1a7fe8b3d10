/** Request whose body ends with an error after a number of bytes. */
export interface BoundedRequest {
  readonly request: Request;
  /** `true` once the body was found to be longer. */
  readonly isTooLong: () => boolean;
}

/**
 * Bounds the body of a request for code that may read all of it. Nothing is read before that code
 * asks, so that code which checks a header first reads nothing for anybody else.
 */
export function boundedRequest(given: Request, maxBytes: number): BoundedRequest {
  const { url, method, headers, signal } = given;
  const declared = Number(given.headers.get('content-length') ?? 0);
  if (given.body === null) return { request: given, isTooLong: () => declared > maxBytes };
  let length = declared > maxBytes ? Number.POSITIVE_INFINITY : 0;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        reader ??= (given.body as ReadableStream<Uint8Array>).getReader();
        const { done, value } = await reader.read();
        if (done) return controller.close();
        length += value.length;
        // Not cancelled: the server drops the rest, as of any request that was answered early.
        if (length > maxBytes) return controller.error(new RangeError('The body is too long.'));
        controller.enqueue(value);
      },
      cancel: async (reason) => await reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  // Node requires `duplex`, and the types of other runtimes lack it.
  const init = { method, headers, signal, body, duplex: 'half' };
  return { request: new Request(url, init), isTooLong: () => length > maxBytes };
}
