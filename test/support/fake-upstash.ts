import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';

/** Local REST endpoint like that of Upstash, in front of a local Redis. */
export interface FakeUpstash {
  readonly url: string;
  readonly token: string;
  readonly close: () => void;
}

/** Faults of the endpoint. */
export interface UpstashFaults {
  /**
   * Called for each request. If it returns `true`, the endpoint runs the command and cuts the
   * connection without a reply.
   */
  readonly losesReply?: () => boolean;
}

type Reply = { readonly result: unknown } | { readonly error: string };

/**
 * Starts an endpoint. It takes a command or a pipeline as JSON, and replies with base64 strings if
 * the client asks for them.
 */
export async function startFakeUpstash(
  redisUrl: string,
  { losesReply = () => false }: UpstashFaults = {},
): Promise<FakeUpstash> {
  const redis = new Redis(redisUrl, { retryStrategy: () => 20 });
  redis.on('error', () => undefined);
  const token = 'token';

  const run = async (command: unknown, encode: (reply: Buffer) => string): Promise<Reply> => {
    if (!Array.isArray(command) || command.length === 0) return { error: 'ERR invalid command' };
    const [name, ...rest] = command.map(String);
    try {
      return { result: encoded(await redis.callBuffer(name ?? '', ...rest), encode) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${token}`)
      return send(401, { error: 'Unauthorized' });
    if (request.method !== 'POST') return send(405, { error: 'Method not allowed' });
    const isBase64 = request.headers['upstash-encoding'] === 'base64';
    const encode = (bytes: Buffer): string => bytes.toString(isBase64 ? 'base64' : 'utf8');
    const body = JSON.parse(await text(request)) as unknown;
    const isPipeline = request.url === '/pipeline';
    const replies = isPipeline
      ? await Promise.all((body as unknown[]).map((command) => run(command, encode)))
      : [await run(body, encode)];
    if (losesReply()) return void request.socket.destroy();
    const [first] = replies;
    if (isPipeline) send(200, replies);
    else send(first !== undefined && 'error' in first ? 400 : 200, first);
  };

  const server = createServer((request, response) => void answer(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    token,
    close: () => {
      server.closeAllConnections();
      server.close();
      redis.disconnect();
    },
  };
}

function encoded(reply: unknown, encode: (bytes: Buffer) => string): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString() === 'OK' ? 'OK' : encode(reply);
  return Array.isArray(reply) ? reply.map((one) => encoded(one, encode)) : reply;
}
