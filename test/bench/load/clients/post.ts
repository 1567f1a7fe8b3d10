import { Agent, request, type IncomingMessage } from 'node:http';

// A minimal client, so that the server dominates the measurement.
const agent = new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY });

/** Options of a request. */
export interface PostOptions {
  readonly headers: { readonly [name: string]: string };
  /** Keeps the sockets. Default: an agent that all requests share. */
  readonly agent?: Agent;
}

/** Sends a JSON-RPC message, and resolves when the headers of the response arrive. */
export async function post(
  url: string,
  message: object,
  { headers, agent: keeper = agent }: PostOptions,
): Promise<IncomingMessage> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent: keeper,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': Buffer.byteLength(body),
        ...headers,
      },
    });
    sent.once('response', resolve).once('error', reject).end(body);
  });
}

/** The whole body of a response. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    response.on('data', (part: string) => (text += part));
    response.once('end', () => resolve(text)).once('error', reject);
  });
}

/**
 * The result in a response of one message, which is JSON or an event stream.
 *
 * @throws Error for any other response: a refusal must not count as a fast response
 */
export async function resultOf<R>(response: IncomingMessage): Promise<R> {
  const text = await textOf(response);
  if (response.statusCode !== 200)
    throw new Error(`The server answered ${response.statusCode}: ${text}`);
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  const { result } = JSON.parse(isStream ? (dataOf(text) ?? 'null') : text) as {
    readonly result?: R;
  };
  if (result === undefined) throw new Error(`The server refused a request: ${text}`);
  return result;
}

/** Data of an event of an event stream. Undefined if it has none. */
export function dataOf(event: string): string | undefined {
  return /^data: ?(.+)$/m.exec(event)?.[1];
}
