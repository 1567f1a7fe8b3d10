import { describe, expect, test } from 'vitest';
import { createKeyRing, createSealer, type Claims, type Purpose } from '@mcp-saga/seal';
import { TokenRefused, type SagaHostOptions } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import {
  accept,
  hooksInto,
  hostOf,
  newKey,
  nothingTold,
  oldKey,
  suspended,
} from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';
import { coreOf } from '../../src/saga-host.ts';

async function mint(options: Partial<SagaHostOptions> = {}, caller = {}): Promise<string> {
  const { host } = hostOf(asking(), { ...options, clock: testClock() });
  return suspended(await coreOf(host).start('asking', {}, caller, { method: 'tools/callSaga' }))
    .token;
}

/** A token that requires the key. */
async function forge(changes: Partial<Claims>, purpose: Purpose = 'token'): Promise<string> {
  const ring = createKeyRing(oldKey, {});
  const sealer = createSealer({ ring, audience: 'deployer', clock: () => start });
  const { sid, claims, streams } = await sealer.open(await mint(), { purpose: 'token' });
  return sealer.seal(
    purpose,
    sid,
    { ...claims, ...changes },
    streams.map((bytes) => ({ bytes, compress: false })),
  );
}

function flipped(token: string, at: number): string {
  return `${token.slice(0, at)}${token.at(at) === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}

interface Refusal {
  readonly name: string;
  readonly reason: string;
  readonly token: () => Promise<string>;
  readonly options?: Partial<SagaHostOptions>;
  readonly at?: number;
}

const empty: Refusal = { name: 'empty', reason: 'malformed', token: async () => '' };

const refusals: readonly Refusal[] = [
  empty,
  { name: 'nonsense', reason: 'malformed', token: async () => 'a.b.c' },
  { name: 'huge', reason: 'too_large', token: async () => 'x'.repeat(65_537) },
  { name: 'cut off', reason: 'malformed', token: async () => (await mint()).slice(0, -1) },
  { name: 'followed by a line feed', reason: 'malformed', token: async () => `${await mint()}\n` },
  { name: 'tampered with', reason: 'undecryptable', token: async () => flipped(await mint(), 200) },
  { name: 'of a key that is gone', reason: 'unknown_key', token: () => mint({ keys: newKey }) },
  { name: 'of another service', reason: 'undecryptable', token: () => mint({ audience: 'other' }) },
  { name: 'of another purpose', reason: 'undecryptable', token: () => forge({}, 'handle') },
  { name: 'expired', reason: 'expired', token: () => mint(), at: start + 3_630_000 },
  {
    name: 'issued too early',
    reason: 'revoked',
    token: () => mint(),
    options: { auth: { rejectIssuedBefore: start + 1 } },
  },
  { name: 'of another method', reason: 'method', token: () => forge({ method: 'tools/call' }) },
  {
    name: 'of a saga that is gone',
    reason: 'target',
    token: () =>
      forge({ saga: { name: 'gone', version: '1' }, entry: { target: 'gone', argsDigest: '' } }),
  },
  {
    name: "somebody else's",
    reason: 'principal',
    token: () => mint({}, { principal: { subject: 'ada', client: 'app' } }),
  },
  {
    name: 'not allowed any more',
    reason: 'forbidden',
    token: () => mint(),
    options: { auth: { authorize: () => false } },
  },
];

describe.each(eras)('a token that does not open, on the wire of the %s era', (era) => {
  async function answerTo({
    token,
    options,
    at,
  }: Refusal): Promise<{ text: string; reasons: string[] }> {
    const told = nothingTold();
    const server = serveSagas({
      name: 'deployer',
      version: '1',
      sagas: [asking()],
      keys: oldKey,
      hooks: hooksInto(told),
      ...options,
      testing: { environment: 'production', clock: () => at ?? start },
    });
    const params = {
      sagaToken: await token(),
      completedSteps: [accept('target', { target: 'x' })],
    };
    const { text, status, last } = await ask(server, era, 'tools/resumeSaga', params, 'request-1');
    expect(status).toBe(200);
    expect(last.error).toStrictEqual({
      code: -32602,
      message: 'Invalid or expired sagaToken',
      data: { reason: 'invalid_saga_token' },
    });
    expect(told.errors).toEqual([]);
    expect(told.steps).toEqual([]);
    return { text, reasons: told.rejections.map(({ reason }) => reason) };
  }

  test.each(refusals)(
    '[T5] gets the frozen response if it is $name, and the hook gets "$reason"',
    async (refusal) => {
      const { text, reasons } = await answerTo(refusal);
      expect(reasons).toEqual([refusal.reason]);
      // Byte for byte: nothing tells one reason from another.
      expect(text).toBe((await answerTo(empty)).text);
    },
  );
});

describe('onReject', () => {
  test('[T5] is called at most ten times a second, and then with the number of suppressed calls', async () => {
    const { host, told, clock } = hostOf(asking());
    const refuse = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1)
        await thrownBy(TokenRefused, host.resume('nonsense'));
    };
    await refuse(25);
    expect(told.rejections).toEqual(
      Array.from({ length: 10 }, () => ({ reason: 'malformed', suppressed: 0 })),
    );
    clock.now += 1000;
    await refuse(12);
    expect(told.rejections.slice(10).map(({ suppressed }) => suppressed)).toEqual([
      15,
      ...Array.from({ length: 9 }, () => 0),
    ]);
    clock.now += 60_000;
    await refuse(1);
    expect(told.rejections.at(-1)).toEqual({ reason: 'malformed', suppressed: 2 });
  });

  test('[T5] the error shows neither the token nor the reason in its message', async () => {
    const { host } = hostOf(asking());
    const token = await forge({ method: 'tools/call' });
    const error = await thrownBy(
      TokenRefused,
      coreOf(host).resume(token, [], {}, { methods: ['tools/callSaga'] }),
    );
    expect(error.message).toBe('Invalid or expired sagaToken');
    expect(error.cause).toBeUndefined();
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(token.slice(-22));
  });
});
