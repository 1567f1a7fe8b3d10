import { describe, expect, test } from 'vitest';
import {
  ClientCannot,
  elicit,
  memoryStore,
  poll,
  race,
  random,
  saga,
  sleep,
  step,
} from '@mcp-saga/server';
import { accept, completed, failed, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { testClock } from '../fixtures/clock.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const grace = 30_000;
const yes = [accept('ok', {})];

const offer = saga({ name: 'offer', version: '1' }, function* () {
  const answer = elicit('ok', { message: 'Buy?', schema: Empty });
  const { winner } = yield* race({ answer, late: sleep(minute) });
  return winner;
});

describe('a client that answers late', () => {
  test.each([
    [minute + grace, 'answer'],
    [minute + grace + 1, 'late'],
    [59 * minute, 'late'],
  ])(
    '[W6] [T13] after %d ms gets the same outcome of a race in a repeated request: %s',
    async (ms, winner) => {
      const clock = testClock();
      const store = memoryStore({ clock });
      const { host } = hostOf(offer, { clock, store, limits: { tokenTtl: day } });
      const { token } = suspended(await host.start('offer', {}));
      clock.now += ms;
      expect(completed(await host.resume(token, yes)).result).toBe(winner);
      // The response was lost, and the client repeats its request.
      clock.now += 20 * minute;
      expect(completed(await host.resume(token, yes)).result).toBe(winner);
    },
  );

  test('[W6] gets one more attempt of a poll that would have timed out', async () => {
    const polling = saga({ name: 'polling', version: '1' }, function* () {
      const done = ({ attempt }: { readonly attempt: number }): string | undefined =>
        attempt > 1 ? 'done' : undefined;
      return yield* poll('job', done, { every: minute / 7, timeout: minute / 3 });
    });
    const { host, clock } = hostOf(polling, { limits: { maxHold: 0 } });
    const { token } = suspended(await host.start('polling', {}));
    clock.now += 30 * minute;
    expect(completed(await host.resume(token)).result).toBe('done');
  });
});

describe('a wait', () => {
  test('[W6] [T6] of a fraction of a millisecond keeps its saga valid, and undoes nothing', async () => {
    const undone: string[] = [];
    const pay = saga({ name: 'pay', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', () => 1, { compensate: () => void undone.push('charge') });
      yield* sleep(3_600_000 / 7);
      yield* sleep(minute * (1 + (yield* random())));
      yield* elicit('ok', { message: 'OK?', schema: Empty, timeout: day / 7 });
      return 'paid';
    });
    const { host, clock } = hostOf(pay, { limits: { maxHold: 0 } });
    let turn = suspended(await host.start('pay', {}));
    while (turn.steps.length === 0) {
      expect(turn.retryAfterMs).toSatisfy(Number.isSafeInteger);
      clock.now += turn.retryAfterMs ?? 0;
      turn = suspended(await host.resume(turn.token));
    }
    expect(completed(await host.resume(turn.token, yes)).result).toBe('paid');
    expect(undone).toEqual([]);
  });

  test('[W6] [T6] longer than its saga is rejected at the step, and reported in development', async () => {
    const slept = saga({ name: 'slept', version: '1' }, function* () {
      yield* sleep(30 * day);
      return 'rested';
    });
    const { host, told } = hostOf(slept, { testing: { environment: 'development' } });
    const { error } = failed(await host.start('slept', {}));
    expect(error).toBeInstanceOf(ClientCannot);
    expect(error).toMatchObject({ need: 'wait', stepId: 'sleep' });
    expect(told.warnings.some((warning) => warning.includes('maxLifetime'))).toBe(true);
    const longer = hostOf(slept, { limits: { maxLifetime: 31 * day } });
    expect(suspended(await longer.host.start('slept', {})).retryAfterMs).toBe(30 * day);
  });
});
