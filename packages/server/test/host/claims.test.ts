import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  checkpoint,
  elicit,
  memoryStore,
  saga,
  step,
  type SagaHost,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { accept, completed, hostOf, suspended } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { coreOf } from '../../src/saga-host.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const skew = 30_000;
const answer = [accept('target', { target: 'x' })];

async function expOf(host: SagaHost, { token }: SuspendedTurn): Promise<number> {
  return (await host.inspect(token)).claims.exp;
}

describe('the original call', () => {
  test('[T6] must be repeated with the same arguments in a dialect that repeats calls', async () => {
    const { host } = hostOf(asking());
    const args = { b: [1, { c: null }], a: 'é' };
    const { token } = suspended(await host.start('asking', args));
    const resume = (target: string, sent: unknown): Promise<unknown> =>
      coreOf(host).resume(token, answer, {}, { entry: { target, args: sent } });

    await expect(resume('asking', { a: 'é', b: [1, { c: null }] })).resolves.toMatchObject({
      status: 'completed',
    });
    await expect(
      resume('asking', { ...args, resumeToken: 'r', answers: {} }),
    ).resolves.toMatchObject({
      status: 'completed',
    });
    await expect(resume('asking', { ...args, a: 'e' })).rejects.toMatchObject({
      reason: 'arguments',
    });
    await expect(resume('asking', undefined)).rejects.toMatchObject({ reason: 'arguments' });
    await expect(resume('other', args)).rejects.toMatchObject({ reason: 'target' });
  });

  test('[T6] counts absent arguments as empty ones', async () => {
    const { host } = hostOf(asking());
    const { token } = suspended(await host.start('asking', undefined));
    const turn = await coreOf(host).resume(
      token,
      answer,
      {},
      { entry: { target: 'asking', args: {} } },
    );
    expect(turn.status).toBe('completed');
  });

  test('[T6] binds the method', async () => {
    const { host } = hostOf(asking());
    const { token } = suspended(
      await coreOf(host).start('asking', {}, {}, { method: 'tools/call' }),
    );
    const resumed = coreOf(host).resume(token, answer, {}, { methods: ['tools/callSaga'] });
    await expect(resumed).rejects.toMatchObject({ reason: 'method' });
    const turn = await coreOf(host).resume(
      token,
      answer,
      {},
      { methods: ['tools/callSaga', 'tools/call'] },
    );
    expect(turn.status).toBe('completed');
  });

  test('[T6] refuses the token of a saga that is not served here', async () => {
    const { token } = suspended(await hostOf(asking()).host.start('asking', {}));
    const other = hostOf(asking('other'));
    await expect(other.host.resume(token)).rejects.toMatchObject({ reason: 'target' });
    expect(other.told.rejections).toEqual([{ reason: 'target', suppressed: 0 }]);
  });
});

describe('expiry', () => {
  test('[T6] opens a token until thirty seconds after its expiry', async () => {
    const { host, clock } = hostOf(asking(), { limits: { tokenTtl: hour } });
    const { token } = suspended(await host.start('asking', {}));
    clock.now = start + hour + skew - 1;
    await expect(host.resume(token, answer)).resolves.toMatchObject({ status: 'completed' });
    clock.now += 1;
    await expect(host.resume(token, answer)).rejects.toMatchObject({ reason: 'expired' });
  });

  test('[T6] opens a token from an instance with a clock up to thirty seconds ahead', async () => {
    const { host, clock } = hostOf(asking());
    const { token } = suspended(await host.start('asking', {}));
    clock.now = start - skew;
    await expect(host.resume(token, answer)).resolves.toMatchObject({ status: 'completed' });
    clock.now -= 1;
    await expect(host.resume(token, answer)).rejects.toMatchObject({ code: 'clock_behind' });
  });

  test('[T6] gives each token a lifetime of `tokenTtl` from its own issue', async () => {
    const two = saga({ name: 'two', version: '1' }, function* () {
      yield* elicit('one', { message: 'One?', schema: Empty });
      yield* elicit('two', { message: 'Two?', schema: Empty });
      return 'done';
    });
    const { host, clock } = hostOf(two, { limits: { tokenTtl: hour } });
    const first = suspended(await host.start('two', {}));
    expect(first.expiresAt).toBe(start + hour);
    expect(await expOf(host, first)).toBe(start + hour);

    clock.now = start + 20 * minute;
    const again = suspended(await host.resume(first.token));
    expect(again.expiresAt).toBe(clock.now + hour);
    const refused = suspended(
      await host.resume(again.token, [{ stepId: 'one', result: 'nonsense' }]),
    );
    expect(refused.expiresAt).toBe(clock.now + hour);
    const second = suspended(await host.resume(refused.token, [accept('one', {})]));
    expect(second.expiresAt).toBe(clock.now + hour);
    clock.now = start + hour + skew;
    await expect(host.resume(first.token)).rejects.toMatchObject({ reason: 'expired' });
    expect(suspended(await host.resume(second.token)).expiresAt).toBe(clock.now + hour);
  });

  test('[T6] extends a saga of checkpoints up to its maximum lifetime', async () => {
    const checked = saga({ name: 'checked', version: '1' }, function* () {
      for (let index = 0; index < 100; index += 1) yield* checkpoint();
      return 'done';
    });
    const { host, clock } = hostOf(checked, {
      limits: { tokenTtl: hour, maxLifetime: 3 * hour },
    });
    let turn = suspended(await host.start('checked', {}));
    for (let index = 0; index < 6; index += 1) {
      const expiresAt = Math.min(clock.now + hour, start + 3 * hour);
      expect(turn).toMatchObject({ steps: [], retryAfterMs: 0, expiresAt });
      clock.now += 30 * minute;
      turn = suspended(await host.resume(turn.token));
    }
    clock.now += skew;
    await expect(host.resume(turn.token)).rejects.toMatchObject({ reason: 'expired' });
  });

  test('[T6] is an hour after the wait of the saga, and not extended after an early return', async () => {
    const retrying = saga({ name: 'retrying', version: '1' }, function* () {
      yield* step(
        'flaky',
        () => {
          throw new Error('not yet');
        },
        { retry: { attempts: 2, delay: 5 * hour, maxDelay: day, jitter: false } },
      );
      return 'done';
    });
    const { host, clock } = hostOf(retrying, { limits: { tokenTtl: hour } });
    const first = suspended(await host.start('retrying', {}));
    expect(first).toMatchObject({ steps: [], retryAfterMs: 5 * hour, expiresAt: start + 6 * hour });
    clock.now += 2 * hour;
    const early = suspended(await host.resume(first.token));
    expect(early).toMatchObject({ retryAfterMs: 3 * hour, expiresAt: start + 6 * hour });
    clock.now += 3 * hour;
    expect((await host.resume(early.token)).status).toBe('failed');
  });

  test('[T6] is never after the end of the maximum lifetime of a saga', async () => {
    const long = saga({ name: 'long', version: '1' }, function* () {
      for (let index = 0; index < 1000; index += 1)
        yield* elicit('more', { message: 'More?', schema: Empty });
      return 'done';
    });
    const { host, clock } = hostOf(long, { limits: { tokenTtl: hour, maxLifetime: 3 * hour } });
    let turn = suspended(await host.start('long', {}));
    const ends: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      clock.now += 40 * minute - 1;
      const answers = turn.steps.map(({ stepId }) => accept(stepId, {}));
      turn = suspended(await host.resume(turn.token, answers));
      ends.push(turn.expiresAt - start);
    }
    expect(ends).toEqual([100 * minute - 1, 140 * minute - 2, 3 * hour - 3, 3 * hour]);
    clock.now = start + 3 * hour + skew;
    await expect(host.resume(turn.token)).rejects.toMatchObject({ reason: 'expired' });
  });

  test('[T6] rejects tokens issued before a given time', async () => {
    const clock = testClock();
    const { token } = suspended(await hostOf(asking(), { clock }).host.start('asking', {}));
    const same = hostOf(asking(), { clock, auth: { rejectIssuedBefore: start } });
    await expect(same.host.resume(token, answer)).resolves.toMatchObject({ status: 'completed' });
    const later = hostOf(asking(), { clock, auth: { rejectIssuedBefore: start + 1 } });
    await expect(later.host.resume(token, answer)).rejects.toMatchObject({ reason: 'revoked' });
  });

  test('[T6] checks the issue time of the token, not of the saga, and each token has its own ID', async () => {
    const { host, clock } = hostOf(asking());
    const first = suspended(await host.start('asking', {}));
    clock.now += minute;
    const second = suspended(await host.resume(first.token));
    const [one, two] = [await host.inspect(first.token), await host.inspect(second.token)];
    expect([one.claims.iat, two.claims.iat]).toEqual([start, start + minute]);
    expect([one.claims.born, two.claims.born]).toEqual([start, start]);
    expect(one.claims.jti).not.toBe(two.claims.jti);
    const later = hostOf(asking(), { clock, auth: { rejectIssuedBefore: start + minute } }).host;
    await expect(later.resume(first.token, answer)).rejects.toMatchObject({ reason: 'revoked' });
    expect((await later.resume(second.token, answer)).status).toBe('completed');
  });

  test('[T6] accepts a clock with fractions of milliseconds', async () => {
    const clock = testClock(start + 0.25);
    const { host } = hostOf(asking(), { clock });
    const { token, expiresAt } = suspended(await host.start('asking', {}));
    expect(expiresAt).toBe(start + hour);
    expect(completed(await host.resume(token, answer)).result).toBe('x');
  });

  test.each([
    ['tokenTtl', 0],
    ['tokenTtl', -1.5],
    ['tokenTtl', Number.POSITIVE_INFINITY],
    ['maxLifetime', Number.NaN],
    ['maxLifetime', -1],
    ['turnBudget', 0],
  ])('refuses %s of %s at the creation of a host', (name, ms) => {
    expect(() => hostOf(asking(), { limits: { [name]: ms } })).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
    expect(() => hostOf(asking(), { limits: { [name]: ms } })).toThrow(name);
  });

  test('[T6] rounds durations up to whole milliseconds', async () => {
    const durations = {
      limits: { tokenTtl: hour / 7, maxLifetime: day / 7, lease: 60_000.5 },
      store: memoryStore(),
    };
    const { host } = hostOf(asking(), durations);
    expect(coreOf(host)).toMatchObject({
      limits: { tokenTtl: Math.ceil(hour / 7), maxLifetime: Math.ceil(day / 7) },
      timing: { leaseMs: 60_001 },
    });
    expect(suspended(await host.start('asking', {})).expiresAt).toBe(start + Math.ceil(hour / 7));
  });
});

test('[T5] a token with surrounding white space opens', async () => {
  const { host } = hostOf(asking(), { clock: testClock() });
  const { token } = suspended(await host.start('asking', {}));
  const pasted = ` \n${token}\r\n`;
  expect((await host.inspect(pasted)).tokenBytes).toBe(token.length);
  expect(completed(await host.resume(pasted, answer)).result).toBe('x');
});

test('[T10] an operator sees the size of each part, and which parts are compressed', async () => {
  const text = 'A sentence with words. '.repeat(400);
  const long = saga({ name: 'long', version: '1', reuse: 'ok' }, function* () {
    yield* step('read', () => text);
    yield* elicit('text', { message: 'Which text?', schema: z.object({ text: z.string() }) });
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    return 'done';
  });
  const { host } = hostOf(long);
  const first = suspended(await host.start('long', {}));
  const second = suspended(await host.resume(first.token, [accept('text', { text })]));
  const { parts, tokenBytes } = await host.inspect(second.token);
  expect(parts.map(({ part }) => part)).toEqual(['secrets', 'structure', 'client', 'server']);
  const [, , client, server] = parts.map(({ bytes, stored }) => ({
    bytes,
    stored,
    share: stored / bytes,
  }));
  expect(client?.bytes).toBeGreaterThan(text.length);
  expect(client?.share).toBeLessThan(0.1);
  // Compressed results would reveal by their length how alike they are to values of the client.
  expect(server?.bytes).toBeGreaterThan(text.length);
  expect(server?.share).toBe(1);
  const stored = parts.reduce((sum, part) => sum + part.stored, 0);
  expect(stored).toBeLessThan(tokenBytes * 0.75);
});
