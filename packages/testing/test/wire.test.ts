import { callSaga } from '@mcp-saga/client';
import { createSagaHost, generateKey, memoryStore, saga, sleep } from '@mcp-saga/server';
import { testHost, type TestHost, type WireClient } from '@mcp-saga/testing';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parcelService } from './sagas/parcel-service.ts';
import { shop } from './sagas/shop.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

const answers = { sure: { sure: true }, word: 'Enjoy' };

let wire: TestHost;
beforeEach(() => {
  shop.reset();
  wire = testHost({ sagas: askingModels([parcelService]), answerers: { model: 'accept' } });
});
afterEach(() => wire.close());

const call = (client: WireClient) => client.call('parcel_service', { cents: 900 });

describe.each(['2026-07-28', '2025-11-25'] as const)('the SDK client of MCP %s', (era) => {
  it('[W1] calls a saga and answers its questions, on the clock of the host', async () => {
    const before = wire.clock.now();
    expect(await call(wire.client({ era, answers }))).toMatchObject({
      content: [{ text: 'Enjoy' }],
    });
    expect(wire.clock.now() - before).toBeGreaterThanOrEqual(5_000);
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
    expect(wire.asked.map(({ stepId }) => stepId)).toEqual(['sure', 'word']);
  });

  it('[E3] declines, and the saga undoes its steps', async () => {
    expect(await call(wire.client({ era, answers: { sure: 'decline' } }))).toMatchObject({
      isError: true,
    });
    expect(shop.charges.size).toBe(0);
    expect(wire.effects).toMatchObject([{ id: 'charge' }, { id: '~charge' }]);
  });

  it('[W4] rejects the call with the question that has no answer', async () => {
    await expect(call(wire.client({ era, answers: { word: 'Enjoy' } }))).rejects.toMatchObject({
      code: 'unanswered',
      message: expect.stringContaining('Ship it for 900?') as unknown,
    });
  });

  it('answers questions of a wire by a function', async () => {
    const asked: string[] = [];
    const client = wire.client({
      era,
      answers: async ({ id, message }) => {
        asked.push(`${id}: ${message}`);
        return id === 'sure' ? { sure: true } : 'Bye';
      },
    });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Bye' }] });
    expect(asked).toEqual(['sure: Ship it for 900?', 'word: A word to the customer?']);
  });

  it('declares the capabilities of the test', async () => {
    const result = await call(wire.client({ era, capabilities: {} }));
    expect(result).toMatchObject({ nextResumeToken: expect.any(String) as unknown });
  });

  it('[T6] is one user, whose token the host refuses from others', async () => {
    const [alice, bob] = ['alice', 'bob'].map((user) =>
      wire.client({ era, user, capabilities: {} }),
    );
    const { nextResumeToken: resumeToken } = await call(alice as WireClient);
    const more = { cents: 900, resumeToken, answers: { sure: { sure: false } } };
    await expect((bob as WireClient).call('parcel_service', more)).rejects.toMatchObject({
      code: -32_602,
    });
    const next = { nextResumeToken: expect.any(String) as unknown };
    expect(await (alice as WireClient).call('parcel_service', more)).toMatchObject(next);
  });
});

describe('a connection cut', () => {
  it('[E1] aborts the request after a step, and the client repeats it with the same key', async () => {
    wire.cutAfter('ship');
    expect(await call(wire.client({ answers }))).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.effects).toMatchObject([{ id: 'charge' }, { id: 'ship', runs: 2 }]);
  });

  it('[T13] drops the response to a request, and the host repeats the response without running anything', async () => {
    wire.cutAfter(2);
    expect(await call(wire.client({ answers }))).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
  });

  it('[E1] charges once if the first response is dropped: the charge waits for the second', async () => {
    wire.cutAfter(1);
    await call(wire.client({ answers }));
    expect(wire.effects.filter(({ id }) => id === 'charge')).toHaveLength(1);
  });

  it('rejects the call of a client without retries', async () => {
    wire.cutAfter('charge');
    await expect(call(wire.client({ answers, whenCut: 'throw' }))).rejects.toMatchObject({
      code: 'wire_cut',
    });
  });

  it.each<string | number>(['ship', 1])(
    'closes a session, and its call fails: %s',
    async (after) => {
      wire.cutAfter(after);
      const client = wire.client({ era: '2025-11-25', answers });
      await expect(call(client)).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    },
  );
});

describe('a host on the wire', () => {
  it('serves other clients by `fetch`, and the SDK client with the saga methods', async () => {
    const client = await wire.client({ answers }).connect();
    const result = await callSaga(
      client,
      { name: 'parcel_service', arguments: { cents: 900 } },
      { clock: wire.clock },
    );
    expect(result).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect((await wire.fetch('http://localhost/mcp')).ok).toBe(false);
  });

  it('has waited when a client returns to a sleeping saga', async () => {
    const napping = saga({ name: 'napping', version: '1' }, function* () {
      yield* sleep(600_000);
      return 'awake';
    });
    const napped = testHost({ sagas: [napping] });
    const client = napped.client({ capabilities: {} });
    const { nextResumeToken: resumeToken } = await client.call('napping');
    const before = napped.clock.now();
    expect(await client.call('napping', { resumeToken })).toMatchObject({
      content: [{ text: 'awake' }],
    });
    expect(napped.clock.now() - before).toBeGreaterThan(500_000);
  });

  it('serves other tools than sagas', async () => {
    const more = testHost(
      { sagas: [parcelService] },
      {
        server: () => {
          const server = new McpServer({ name: 'shop', version: '1' });
          server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
          return server;
        },
      },
    );
    const client = more.client();
    const { tools } = await (await client.connect()).listTools();
    expect(tools).toMatchObject([{ name: 'hello' }, { name: 'parcel_service' }]);
    expect(await client.call('hello')).toMatchObject({ content: [{ text: 'hello' }] });
    await expect(client.call('nothing')).rejects.toMatchObject({ code: -32_602 });
    await more.close();
  });

  it('may be an existing host', async () => {
    const host = createSagaHost({
      sagas: [parcelService],
      keys: generateKey(),
      name: 'shop',
      store: memoryStore(),
      limits: { maxHold: 0 },
      testing: { clock: () => Date.now() + wire.clock.now() },
      anonymous: { tasks: 'accept' },
      hooks: { onTurn: () => undefined },
    });
    const client = testHost(host).client({ answers: () => 'decline' });
    expect(await client.call('parcel_service', { cents: 1 })).toMatchObject({ isError: true });
  });
});
