import { generateKey, memoryStore, saga, sleep, step, type QueueMessage } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { describe, expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hour, recordingQueue } from './queued.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';

expectLogs(restartLog);

const signature = 'signed';

function serving(change: object = {}) {
  const clock = testClock();
  const queue = recordingQueue();
  const seen: unknown[] = [];
  const errors: unknown[] = [];
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* sleep(hour);
    yield* step('ship', ({ services }) => void seen.push(services));
    return 'done';
  });
  const server = serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [order],
    keys: generateKey(),
    services: (env: { readonly name: string }) => env,
    store: memoryStore({ clock }),
    queue: {
      ...queue,
      receive: async (request) =>
        request.headers.get('x-signature') === signature
          ? ((await request.json()) as QueueMessage)
          : undefined,
    },
    limits: { maxHold: 0 },
    testing: { clock, environment: 'production' },
    hooks: {
      onTurn: () => undefined,
      onReject: () => undefined,
      onError: (error) => void errors.push(error),
    },
    ...change,
  });
  const post = (body: unknown, headers: Record<string, string> = {}, method = 'POST') =>
    server.fetch(
      new Request('http://localhost/saga/wake', {
        method,
        headers,
        ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
      }),
      { name: 'env' },
    );
  const started = async (): Promise<QueueMessage> => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'order',
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        },
      },
    };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'order',
    };
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await (await server.fetch(request, { name: 'env' })).text();
    const { message, at } = queue.sent.at(-1)!;
    clock.now = at;
    return message;
  };
  return { server, queue, seen, errors, post, started };
}

describe('POST /saga/wake', () => {
  it('[E8] delivers a message with a valid signature', async () => {
    const { seen, post, started, errors } = serving();
    const message = await started();
    expect((await post(message)).status).toBe(401);
    expect((await post(message, { 'x-signature': 'forged' })).status).toBe(401);
    expect(seen).toEqual([]);
    const response = await post(message, { 'x-signature': signature });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'ended' });
    expect(seen).toEqual([{ name: 'env' }]);
    expect(errors).toEqual([]);
  });

  it('[T5] [E10] distinguishes messages that a queue may deliver again', async () => {
    const { queue, post, started, errors } = serving();
    const message = await started();
    const signed = { 'x-signature': signature };
    expect((await post({ ...message, token: 'x' }, signed)).status).toBe(422);
    expect((await post(null, {}, 'GET')).status).toBe(405);
    expect((await post(message, { ...signed, 'content-length': '99999999' })).status).toBe(413);
    queue.isDown = true;
    const ended = await post(message, signed);
    expect(ended.status).toBe(200);
    expect(errors).not.toEqual([]);
  });

  it('[T4] refuses a body without a length that is longer than any message, whoever sends it', async () => {
    const { server, errors } = serving();
    let sent = 0;
    const send = async (headers: Record<string, string>): Promise<number> => {
      sent = 0;
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          sent += 65_536;
          controller.enqueue(new Uint8Array(65_536).fill(0x20));
        },
      });
      const init = { method: 'POST', headers, body, duplex: 'half' };
      const request = new Request('http://localhost/saga/wake', init);
      return (await server.fetch(request, { name: 'env' })).status;
    };
    expect(await send({ 'x-signature': signature })).toBe(413);
    expect(sent).toBeLessThan(1_000_000);
    // Its check of the header fails, and it reads nothing.
    expect(await send({ 'x-signature': 'forged' })).toBe(401);
    expect(sent).toBeLessThan(300_000);
    expect(errors).toEqual([]);
  });

  it('[T4] refuses a long body also if `receive` catches the error of its reader', async () => {
    const queue = {
      ...recordingQueue(),
      receive: async (request: Request) => {
        await request.text().catch(() => '');
        return undefined;
      },
    };
    const { post } = serving({ queue });
    expect((await post('x'.repeat(600_000))).status).toBe(413);
    expect((await post('x'.repeat(300_000))).status).toBe(401);
  });

  it('[T6] refuses other hosts and origins, and requires a signature check', async () => {
    expectLogs('401-or-403-over-http');
    const { post } = serving({ http: { allowedHosts: ['shop.example'] } });
    expect((await post({}, { 'x-signature': signature })).status).toBe(403);
    const page = serving();
    expect(
      (await page.post({}, { 'x-signature': signature, origin: 'https://evil.example' })).status,
    ).toBe(403);
    const unsigned = serving({ queue: recordingQueue() });
    expect((await unsigned.post({}, { 'x-signature': signature })).status).toBe(404);
  });

  it('[E8] has a counterpart for queues that call a function', async () => {
    const { server, seen, started } = serving();
    expect(await server.deliver(await started(), { name: 'lambda' })).toMatchObject({
      status: 'ended',
    });
    expect(seen).toEqual([{ name: 'lambda' }]);
  });
});
