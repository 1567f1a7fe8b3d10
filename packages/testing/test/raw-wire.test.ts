import { testHost, type TestHost } from '@mcp-saga/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tamper } from '../../../test/support/wire/tamper.ts';
import { wireWays, type WireWay } from '../../../test/support/wire/ways.ts';
import { rawClient, type RawClient } from '../../../test/support/wire/wire-client.ts';
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

const call = (client: RawClient) => client.call('parcel_service', { cents: 900 });

describe.each(wireWays)('a raw client: $dialect, $era', (way: WireWay) => {
  it('[W1] calls a saga and answers its questions, with a virtual clock', async () => {
    const before = wire.clock.now();
    const client = rawClient(wire, { ...way, answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.clock.now() - before).toBeGreaterThanOrEqual(5_000);
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
    expect(shop.shipped.size).toBe(1);
  });

  it('[E3] declines a question, and the saga compensates', async () => {
    const client = rawClient(wire, { ...way, answers: { sure: 'decline' } });
    expect(await call(client)).toMatchObject({ isError: true });
    expect(shop.charges.size).toBe(0);
    expect(wire.effects).toMatchObject([{ id: 'charge' }, { id: '~charge' }]);
  });

  it('[E1] is cut after a step that follows a token, and each run of the step has one key', async () => {
    wire.cutAfter('ship');
    const client = rawClient(wire, { ...way, answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    // A session that is cut takes its call along: the client can only call anew.
    const isLost = way.dialect === 'push';
    expect(wire.effects.filter(({ id }) => id === 'ship')).toHaveLength(isLost ? 2 : 1);
  });

  it('[W4] reports a question without an answer', async () => {
    const client = rawClient(wire, { ...way, answers: { word: 'Enjoy' } });
    await expect(call(client)).rejects.toMatchObject({
      code: 'unanswered',
      message: expect.stringContaining('Ship it for 900?') as unknown,
    });
  });

  it('answers raw requests by a function of the question', async () => {
    const asked: string[] = [];
    const client = rawClient(wire, {
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

const withTokens = wireWays.filter(
  ({ dialect }) => dialect !== 'push' && dialect !== 'resumable requests',
);

describe.each(withTokens)('a token on the wire: $dialect, $era', (way) => {
  it('[T1] is refused after any change, and nothing runs', async () => {
    const honest = rawClient(wire, { ...way, user: 'alice', answers });
    await call(honest);
    await call(honest);
    const [token = ''] = honest.tokens;
    for (const { how, token: forged } of tamper(token, honest.tokens.at(-1))) {
      const mallory = rawClient(wire, { ...way, user: 'alice', answers, token: () => forged });
      const error: unknown = await call(mallory).catch((thrown: unknown) => thrown);
      // Models that must fill each argument send an empty token: they have to read what is wrong.
      const refused =
        way.dialect === 'resume token' && forged === ''
          ? { isError: true }
          : { name: 'WireError', rpcCode: -32602 };
      expect({ how, error }).toMatchObject({ how, error: refused });
    }
    // The two honest calls.
    expect(wire.effects.filter(({ id }) => id === 'ship')).toHaveLength(2);
  });

  it('[T6] rejects the token of another user', async () => {
    const alice = rawClient(wire, { ...way, user: 'alice', answers: { sure: 'decline' } });
    await call(alice);
    const bob = rawClient(wire, {
      ...way,
      user: 'bob',
      answers,
      token: () => alice.tokens[0] ?? '',
    });
    await expect(call(bob)).rejects.toMatchObject({ name: 'WireError', rpcCode: -32602 });
  });
});

describe('a host of raw clients', () => {
  it('[E1] charges once over raw requests if the first response is dropped', async () => {
    wire.cutAfter(1);
    await call(rawClient(wire, { dialect: 'saga methods', era: '2026-07-28', answers }));
    expect(wire.effects.filter(({ id }) => id === 'charge')).toHaveLength(1);
  });

  it('[T13] repeats the response to a request whose response was dropped', async () => {
    wire.cutAfter(2);
    const client = rawClient(wire, { dialect: 'saga methods', era: '2026-07-28', answers });
    expect(await call(client)).toMatchObject({ content: [{ text: 'Enjoy' }] });
    expect(wire.effects).toMatchObject([
      { id: 'charge', runs: 1 },
      { id: 'ship', runs: 1 },
    ]);
    expect(
      client.exchanges.map(({ method, error }) => (error === undefined ? method : 'cut')),
    ).toEqual([
      'tools/callSaga',
      'cut',
      'tools/resumeSaga',
      'tools/resumeSaga',
      'tools/resumeSaga',
    ]);
  });

  it('[T2] refuses an expired token', async () => {
    const client = rawClient(wire, {
      dialect: 'saga methods',
      era: '2026-07-28',
      answers: {
        ...answers,
        sure: () => {
          wire.clock.pass(25 * 60 * 60 * 1000);
          return { sure: true };
        },
      },
    });
    await expect(call(client)).rejects.toMatchObject({ data: { reason: 'invalid_saga_token' } });
  });
});
