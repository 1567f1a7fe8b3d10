import { request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

/** A request that has been read, so that it can be sent more than once. */
export interface ReadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Reads a request to its end. */
export async function readRequest(incoming: IncomingMessage): Promise<ReadRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = 'GET', url: path = '/', headers } = incoming;
  return { method, path, headers, body: Buffer.concat(chunks) };
}

/** A request under way to a server. */
export interface Forwarded {
  /** @throws where the server is not there, or dies */
  readonly response: Promise<IncomingMessage>;
  /** Cuts the connection to the server, which hears of it. */
  cut(): void;
}

/** Sends a request to a server, on a connection of its own. */
export function forward({ method, path, headers, body }: ReadRequest, to: URL): Forwarded {
  const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...kept } = headers;
  const sent = request(new URL(path, to), {
    method,
    headers: { ...kept, host: to.host, ...(body.length === 0 ? {} : { 'content-length': body.length }) },
    agent: false,
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.once('close', () => reject(new Error('closed')));
  });
  // It may be cut before anybody waits for it.
  response.catch(() => undefined);
  sent.on('error', () => undefined);
  sent.end(body);
  return { response, cut: () => void sent.destroy() };
}

/** Passes a response on as it comes; where the server dies in the middle, the client's socket is cut. */
export function passOn(from: IncomingMessage, to: ServerResponse): void {
  const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = from.headers;
  to.writeHead(from.statusCode ?? 502, headers);
  // A stream that stays open is known by its head.
  to.flushHeaders();
  from.on('error', () => to.destroy());
  from.once('close', () => {
    if (!from.complete) to.destroy();
  });
  from.pipe(to);
}

/** Passes the first half of what comes first, and cuts the client's socket. */
export function passHalf(from: IncomingMessage, to: ServerResponse): void {
  const { connection: _, 'transfer-encoding': __, 'content-length': ___, ...headers } = from.headers;
  to.writeHead(from.statusCode ?? 502, headers);
  from.on('error', () => to.destroy());
  from.once('data', (chunk: Buffer) => {
    to.write(chunk.subarray(0, chunk.length / 2), () => to.destroy());
    // The server gets rid of the rest.
    from.resume();
  });
  from.once('end', () => to.destroy());
}

/** Reads a response that nobody waits for. */
export function ignore({ response }: Forwarded): void {
  response.then(
    (from) => from.on('error', () => undefined).resume(),
    () => undefined,
  );
}
