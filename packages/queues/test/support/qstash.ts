import { createHash, randomUUID } from 'node:crypto';
import { qstashQueue, receiveQstash, type QstashQueue } from '@mcp-saga/queues';
import type { QueueUnderTest } from '@mcp-saga/testing/stores';
import { SignJWT } from 'jose';
import { startService, type PushService } from './push-service.ts';

export const baseUrl = 'https://qstash.test';
export const url = 'https://shop.example/saga/wake';
export const token = 'qstash-token';
export const currentSigningKey = 'sig_current_key';
export const nextSigningKey = 'sig_next_key';

/** Parts of a signature that a test replaces. */
export interface SignatureChange {
  readonly key?: string;
  readonly claims?: object;
  readonly alg?: string;
}

/** Signs a body as QStash does. */
export async function sign(
  body: string,
  now: number,
  change: SignatureChange = {},
): Promise<string> {
  const { key = currentSigningKey, claims = {}, alg = 'HS256' } = change;
  const seconds = Math.floor(now / 1_000);
  const digest = `${createHash('sha256').update(body).digest('base64url')}=`;
  return await new SignJWT({
    iss: 'Upstash',
    sub: url,
    exp: seconds + 300,
    nbf: seconds,
    iat: seconds,
    jti: `jwt_${randomUUID()}`,
    body: digest,
    ...claims,
  })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .sign(new TextEncoder().encode(key));
}

/** Makes a request of QStash. */
export function requestOf(body: string, signature: string | undefined): Request {
  const headers = signature === undefined ? {} : { 'Upstash-Signature': signature };
  return new Request(url, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** A queue of QStash under test, and what else a test looks at. */
export interface QstashUnderTest extends QueueUnderTest {
  readonly queue: QstashQueue;
  readonly service: PushService;
  readonly requests: readonly Request[];
}

// A plan with 5 retries, and their delays in seconds.
const retries = [12, 148, 1_808, 21_967, 86_400];

/** Makes a queue on a fake of QStash, which refuses what QStash refuses. */
export async function makeQstash(): Promise<QstashUnderTest> {
  let endpoint: ((request: Request) => Promise<Response>) | undefined;
  const requests: Request[] = [];
  const known = new Set<string>();
  const service = startService({
    push: async ({ body }) => {
      const signature = await sign(body, service.now());
      const response = await endpoint?.(requestOf(body, signature));
      return response?.ok === true;
    },
    retryAfter: (tries) => {
      const seconds = retries[tries - 1];
      return seconds === undefined ? undefined : seconds * 1_000;
    },
  });
  const fetch = async (request: Request): Promise<Response> => {
    requests.push(request.clone());
    const { headers, method } = request;
    const { pathname, searchParams } = new URL(request.url);
    if (headers.get('Authorization') !== `Bearer ${token}`)
      return new Response(null, { status: 401 });
    if (method === 'DELETE' && pathname === '/v2/messages') {
      service.drop(searchParams.get('label') ?? '');
      return Response.json({ cancelled: 0 });
    }
    if (method !== 'POST' || pathname !== `/v2/publish/${url}`)
      return new Response(null, { status: 404 });
    const deduplication = headers.get('Upstash-Deduplication-Id') ?? '';
    const notBefore = headers.get('Upstash-Not-Before');
    const isSound =
      /^[\w-]+$/.test(deduplication) && (notBefore === null || /^\d{10}$/.test(notBefore));
    if (!isSound) return Response.json({ error: 'invalid header' }, { status: 400 });
    if (known.has(deduplication)) return Response.json({ deduplicated: true }, { status: 202 });
    known.add(deduplication);
    const at = Math.max(service.now(), Number(notBefore ?? 0) * 1_000);
    const label = headers.get('Upstash-Label') ?? '';
    return Response.json({ messageId: service.store({ label, body: await request.text(), at }) });
  };
  const make = (): QstashQueue =>
    qstashQueue({
      token,
      currentSigningKey,
      nextSigningKey,
      url,
      baseUrl,
      fetch,
      clock: service.now,
    });
  const queue = make();
  return {
    service,
    requests,
    queue,
    elsewhere: make(),
    now: service.now,
    pass: service.pass,
    consume: async (deliver) => {
      endpoint = async (request) => await receiveQstash({ deliver }, queue, request);
      return {
        kill: async () => {
          endpoint = undefined;
          service.kill();
        },
      };
    },
  };
}
