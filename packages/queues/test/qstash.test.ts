import { Client, Receiver } from '@upstash/qstash';
import { qstashQueue, receiveQstash } from '@mcp-saga/queues';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { queueConformance } from '@mcp-saga/testing/stores';
import { assert, asyncProperty, nat, pre, string } from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  baseUrl,
  currentSigningKey,
  makeQstash,
  nextSigningKey,
  requestOf,
  sign,
  token,
  url,
  type SignatureChange,
} from './support/qstash.ts';

const message = { sagaId: 'saga_-1', turn: 1, token: 'sealed' };
const body = JSON.stringify(message);
const ended: DeliveryResult = { status: 'ended', sagaId: 'saga_-1' };

/** The method and the sorted query of a request. */
function requestLine(
  request: { readonly method: string; readonly url: string } | undefined,
): unknown {
  const { pathname, searchParams } = new URL(request?.url ?? '');
  return [request?.method, pathname, [...searchParams].map(String).toSorted()];
}

describe('a queue of QStash', () => {
  for (const { title, run } of queueConformance(makeQstash)) it(title, run);

  it('sends the same requests as the client of Upstash', async () => {
    const { queue, requests, now } = await makeQstash();
    const at = now() + 90_500;
    await queue.send(message, at);
    await queue.remove(message.sagaId);
    const theirs: Request[] = [];
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      theirs.push(new Request(input, init));
      return Response.json({});
    });
    onTestFinished(() => fetched.mockRestore());
    const client = new Client({ baseUrl, token, enableTelemetry: false });
    const deduplicationId = requests[0]?.headers.get('Upstash-Deduplication-Id') ?? '';
    const notBefore = Math.ceil(at / 1_000);
    await client.publishJSON({
      url,
      body: message,
      notBefore,
      deduplicationId,
      label: message.sagaId,
    });
    await client.messages.cancel({ filter: { label: message.sagaId } });
    const parts = async (request: Request) => ({
      method: request.method,
      url: request.url,
      body: await request.text(),
      headers: [...request.headers].filter(([name]) =>
        /^(?:authorization|content-type|upstash-(?!method))/.test(name),
      ),
    });
    const [publish, cancel] = await Promise.all(requests.map(parts));
    const [theirPublish, theirCancel] = await Promise.all(theirs.map(parts));
    expect(publish).toEqual(theirPublish);
    expect(cancel?.url).toContain(`${baseUrl}/v2/messages?`);
    expect(requestLine(cancel)).toEqual(requestLine(theirCancel));
  });

  it('delays no message longer than the smallest plan allows', async () => {
    const { queue, requests, now } = await makeQstash();
    const day = 24 * 3_600_000;
    await queue.send(message, now() + 6 * day);
    await queue.send(message, now() + 30 * day);
    const times = requests.map(({ headers }) => headers.get('Upstash-Not-Before'));
    expect(times).toEqual(Array.from({ length: 2 }, () => `${(now() + 6 * day) / 1_000}`));
  });

  it('signs test requests as the receiver of Upstash expects', async () => {
    const receiver = new Receiver({ currentSigningKey, nextSigningKey });
    const signature = await sign(body, Date.now());
    expect(await receiver.verify({ body, signature, url })).toBe(true);
  });

  it('reads a message that is signed with the current key or the next key', async () => {
    const { queue, now } = await makeQstash();
    for (const key of [currentSigningKey, nextSigningKey]) {
      const signature = await sign(body, now(), { key });
      expect(await queue.receive(requestOf(body, signature))).toEqual(message);
    }
  });

  it.each<[string, SignatureChange]>([
    ['another key', { key: 'sig_other_key' }],
    ['another algorithm', { alg: 'HS512' }],
    ['another issuer', { claims: { iss: 'Else' } }],
    ['another URL', { claims: { sub: 'https://shop.example/other' } }],
    ['another body', { claims: { body: 'qK78N0k3pNKI8zN62Fq2Gm-_LtWkJk1z9ykio3zZvY4=' } }],
    ['no body', { claims: { body: undefined } }],
    ['a time that has passed', { claims: { exp: Date.UTC(2030, 0, 1) / 1_000 - 31 } }],
    ['no end', { claims: { exp: undefined } }],
    ['a time to come', { claims: { nbf: Date.UTC(2030, 0, 1) / 1_000 + 31 } }],
    ['no begin', { claims: { nbf: undefined } }],
  ])('refuses a signature with %s', async (_, change) => {
    const { queue, now } = await makeQstash();
    const signature = await sign(body, now(), change);
    expect(await queue.receive(requestOf(body, signature))).toBeUndefined();
    const delivered: unknown[] = [];
    const deliver = async (given: unknown) => {
      delivered.push(given);
      return ended;
    };
    const response = await receiveQstash({ deliver }, queue, requestOf(body, signature));
    expect([response.status, delivered]).toEqual([401, []]);
  });

  it('refuses every changed, truncated, or missing signature without reading the body', async () => {
    const { queue, now } = await makeQstash();
    const signature = await sign(body, now());
    const refuse = async (changed: string | undefined): Promise<void> => {
      const request = requestOf(body, changed);
      expect(await queue.receive(request)).toBeUndefined();
      expect(request.bodyUsed).toBe(false);
    };
    await refuse(undefined);
    const [header = '', payload = '', mac = ''] = signature.split('.');
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    for (const changed of [
      '',
      '..',
      `${none}.${payload}.`,
      `${none}.${payload}.${mac}`,
      `${header}.${payload}`,
    ]) {
      await refuse(changed);
    }
    await refuse(`${signature}.${mac}`);
    await assert(
      asyncProperty(
        nat(signature.length - 2),
        string({ minLength: 1, maxLength: 1 }),
        async (at, other) => {
          // The last character of each part has bits that no byte has.
          pre(/[\w.-]/.test(other) && signature[at] !== other && signature[at + 1] !== '.');
          await refuse(`${signature.slice(0, at)}${other}${signature.slice(at + 1)}`);
        },
      ),
    );
  });

  it('refuses a signed request with another body', async () => {
    const { queue, now } = await makeQstash();
    const signature = await sign(body, now());
    expect(await queue.receive(requestOf(`${body} `, signature))).toBeUndefined();
  });

  it('requests a repetition of a rejected message only', async () => {
    const { queue, now } = await makeQstash();
    const statusOf = async (text: string, deliver: () => Promise<DeliveryResult>) => {
      const signature = await sign(text, now());
      return (await receiveQstash({ deliver }, queue, requestOf(text, signature))).status;
    };
    expect(await statusOf(body, async () => ended)).toBe(204);
    expect(await statusOf(body, () => Promise.reject(new Error('busy')))).toBe(503);
    expect(await statusOf('{}', async () => ended)).toBe(489);
  });

  it('reports why QStash refused a message, without the token', async () => {
    const queue = qstashQueue({
      token,
      currentSigningKey,
      nextSigningKey,
      url,
      fetch: async () => Response.json({ error: 'quota maxDelay exceeded' }, { status: 400 }),
    });
    const error: unknown = await Promise.resolve(queue.send(message, 0)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'queue_refused',
      message: expect.stringContaining('maxDelay'),
    });
    expect(String((error as Error).stack)).not.toContain(token);
    await expect(queue.remove('saga')).rejects.toMatchObject({ code: 'queue_refused' });
  });

  it('reports the limit for a message that QStash does not store', async () => {
    const { queue, now, requests } = await makeQstash();
    await expect(
      queue.send({ ...message, token: 'x'.repeat(1_000_000) }, now()),
    ).rejects.toMatchObject({
      code: 'queue_message_too_large',
      message: expect.stringContaining('1000000'),
    });
    expect(requests).toEqual([]);
  });

  it('rejects missing and unknown options', () => {
    const options = { token, currentSigningKey, nextSigningKey, url };
    for (const name of Object.keys(options)) {
      expect(() => qstashQueue({ ...options, [name]: '' })).toThrow(`qstashQueue.${name}`);
    }
    expect(() => qstashQueue({ ...options, key: 'x' } as never)).toThrow("has no option 'key'");
  });
});
