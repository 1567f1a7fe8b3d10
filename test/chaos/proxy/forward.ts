import {
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';

/** A buffered request, which can be sent more than once. */
export interface ReadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Reads a whole request. */
export async function readRequest(incoming: IncomingMessage): Promise<ReadRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = 'GET', url: path = '/', headers } = incoming;
  return { method, path, headers, body: Buffer.concat(chunks) };
}

/** `true` if a request continues a saga, and brings no answers. */
export function isWithoutAnswers({ body }: Pick<ReadRequest, 'body'>): boolean {
  const text = body.toString('utf8');
  const token = /"(?:sagaToken|resumeToken|requestState)":"/;
  const answers = /"(?:completedSteps|answers|inputResponses)":(?!\[\]|\{\})/;
  return token.test(text) && !answers.test(text);
}

/** A request in flight to a server. */
export interface Forwarded {
  /** @throws if the server is down, or dies */
  readonly response: Promise<IncomingMessage>;
  /** Cuts the connection to the server, which detects the cut. */
  cut(): void;
}

/** Sends a request to a server on a new connection. */
export function forward({ method, path, headers, body }: ReadRequest, to: URL): Forwarded {
  const { connection: _, 'content-length': __, 'transfer-encoding': ___, ...kept } = headers;
  const sent = request(new URL(path, to), {
    method,
    headers: {
      ...kept,
      host: to.host,
      ...(body.length === 0 ? {} : { 'content-length': body.length }),
    },
    agent: false,
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.once('close', () => reject(new Error('closed')));
  });
  // The connection may be cut before the caller awaits the response.
  response.catch(() => undefined);
  sent.on('error', () => undefined);
  sent.end(body);
  return { response, cut: () => void sent.destroy() };
}

/** Streams a response to the client. Cuts the client's socket if the server dies meanwhile. */
export function passOn(from: IncomingMessage, to: ServerResponse): void {
  const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = from.headers;
  to.writeHead(from.statusCode ?? 502, headers);
  // Sends the headers at once, because a stream may stay open without data.
  to.flushHeaders();
  from.on('error', () => to.destroy());
  from.once('close', () => {
    if (!from.complete) to.destroy();
  });
  from.pipe(to);
}

/** Sends the first half of the first chunk, and cuts the client's socket. */
export function passHalf(from: IncomingMessage, to: ServerResponse): void {
  const {
    connection: _,
    'transfer-encoding': __,
    'content-length': ___,
    ...headers
  } = from.headers;
  to.writeHead(from.statusCode ?? 502, headers);
  from.on('error', () => to.destroy());
  from.once('data', (chunk: Buffer) => {
    to.write(chunk.subarray(0, chunk.length / 2), () => to.destroy());
    // Discards the rest of the response.
    from.resume();
  });
  from.once('end', () => to.destroy());
}

/** Discards a response that has no caller. */
export function ignore({ response }: Forwarded): void {
  response.then(
    (from) => from.on('error', () => undefined).resume(),
    () => undefined,
  );
}
