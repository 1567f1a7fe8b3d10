import { generateKey, createSagaHost, memoryGuard } from '@mcp-saga/server';
import { tamper, testHost, wireWays, type TestHost, type WireClient, type WireWay } from '@mcp-saga/testing';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parcelService } from './sagas/parcel-service.ts';
import { shop } from './sagas/shop.ts';

const answers = { sure: { sure: true }, word: 'Enjoy' };

let wire: TestHost;
beforeEach(() => {
  shop.reset();
  wire = testHost({ sagas: [parcelService], answers: { model: 'accept' } });
});
afterEach(() => wire.close());

const call = (client: WireClient) => client.call('parcel_service', { cents: 900 });

describe.each(wireWays)('a client in memory: $dialect, $era', (way: WireWay) => {
  it('[W1] calls a saga and answers what it asks, by a clock of its own', async () => {
    const before = wire.clock.now();
    const client = wire.client({ ...way, answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.clock.now() - before).toBeGreaterThanOrEqual(5_000);
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
    expect(shop.shipped.size).toBe(1);
  });

  it('[E3] refuses, and what was done is undone', async () => {
    const client = wire.client({ ...way, answers: { sure: 'decline' } });
    expect(await call(client)).toMatchObject({ isError: true });
    expect(shop.charges.size).toBe(0);
    expect(wire.effects).toMatchObject([{ id: 'charge' }, { id: '~charge' }]);
  });

  it('[E1] is cut after a step that has a token before it, and the step has one key', async () => {
    wire.cutAfter('ship');
    const client = wire.client({ ...way, answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    // A session that is cut takes its call along: the client can only call anew.
    const isLost = way.dialect === 'push';
    expect(wire.effects.filter(({ id }) => id === 'ship')).toHaveLength(isLost ? 2 : 1);
  });

  it('[W4] says what it was asked and has no answer to', async () => {
    const client = wire.client({ ...way, answers: { word: 'Enjoy' } });
    await expect(call(client)).rejects.toMatchObject({
      code: 'unanswered',
      message: expect.stringContaining('Ship it for 900?') as unknown,
    });
  });

  it('answers by a function of the question', async () => {
    const asked: string[] = [];
    const client = wire.client({
      ...way,
      answers: ({ id, message }) => {
        asked.push(`${id}: ${message}`);
        return id === 'sure' ? { sure: true } : 'Bye';
      },
    });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Bye' }] });
    expect(asked).toEqual(['sure: Ship it for 900?', 'word: A word to the customer?']);
  });
});

const withTokens = wireWays.filter(({ dialect }) => dialect !== 'push' && dialect !== 'resumable requests');

describe.each(withTokens)('a token on the wire: $dialect, $era', (way) => {
  it('[T1] is refused however it was tampered with, and nothing runs', async () => {
    const honest = wire.client({ ...way, user: 'alice', answers });
    await call(honest);
    await call(honest);
    const [token = ''] = honest.tokens;
    for (const { how, token: forged } of tamper(token, honest.tokens.at(-1))) {
      const mallory = wire.client({ ...way, user: 'alice', answers, token: () => forged });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const error: unknown = await call(mallory).catch((thrown: unknown) => thrown);
      expect({ how, error }).toMatchObject({ how, error: { name: 'WireError', rpcCode: -32602 } });
    }
    // The two honest calls.
    expect(wire.effects.filter(({ id }) => id === 'ship')).toHaveLength(2);
  });

  it('[T6] is of one user: another one cannot go on with it', async () => {
    const alice = wire.client({ ...way, user: 'alice', answers: { sure: 'decline' } });
    await call(alice);
    const bob = wire.client({ ...way, user: 'bob', answers, token: () => alice.tokens[0] ?? '' });
    await expect(call(bob)).rejects.toMatchObject({ name: 'WireError', rpcCode: -32602 });
  });
});

describe('a host on the wire', () => {
  it('[E1] double charges where the very first answer is lost, which commitFirst is for', async () => {
    await call(wire.cutAfter(1).client({ dialect: 'saga methods', answers }));
    expect(wire.effects.filter(({ id }) => id === 'charge')).toHaveLength(2);
  });

  it('[T13] answers a request again whose answer was lost, and runs nothing', async () => {
    wire.cutAfter(2);
    const client = wire.client({ dialect: 'saga methods', answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
    expect(client.exchanges.map(({ method, error }) => (error === undefined ? method : 'cut'))).toEqual([
      'tools/callSaga',
      'cut',
      'tools/resumeSaga',
      'tools/resumeSaga',
    ]);
  });

  it('gives up where its client does not try again', async () => {
    wire.cutAfter('charge');
    const client = wire.client({ dialect: 'multi round-trip', answers, whenCut: 'throw' });
    await expect(call(client)).rejects.toMatchObject({ name: 'WireCut' });
  });

  it('[T2] refuses a token of yesterday', async () => {
    const client = wire.client({
      dialect: 'saga methods',
      answers: {
        ...answers,
        sure: () => {
          wire.clock.pass(25 * 60 * 60 * 1000);
          return { sure: true };
        },
      },
    });
    await expect(call(client)).rejects.toThrow('Invalid or expired sagaToken');
  });

  it('takes requests of any method, and servers with more than sagas', async () => {
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
    const client = more.client({ dialect: 'multi round-trip' });
    const { tools } = await client.send('tools/list');
    expect(tools).toMatchObject([{ name: 'hello' }, { name: 'parcel_service' }]);
    expect(await client.call('hello')).toMatchObject({ content: [{ text: 'hello' }] });
    await expect(client.call('nothing')).rejects.toMatchObject({ name: 'WireError' });
  });

  it('can be one that exists already', async () => {
    const host = createSagaHost({
      sagas: [parcelService],
      keys: generateKey(),
      audience: 'shop',
      guard: { store: memoryGuard() },
      limits: { maxHoldMs: 0 },
      testing: { clock: () => Date.now() + wire.clock.now() },
      tasks: { bearer: 'accept' },
      hooks: { onTurn: () => undefined },
    });
    const client = testHost(host).client({
      dialect: 'saga methods',
      answers: { sure: 'decline' },
    });
    expect(await client.call('parcel_service', { cents: 1 })).toMatchObject({ isError: true });
  });

  it('has no client that speaks what its era does not know', () => {
    expect(() => wire.client({ dialect: 'push', era: '2026-07-28' })).toThrow(
      "No client of 2026-07-28 speaks 'push': it is of 2025-11-25.",
    );
  });
});
