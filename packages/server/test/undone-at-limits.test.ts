import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { expect, test } from 'vitest';
import { testClock } from './fixtures/clock.ts';
import { accept, hostOf, suspended } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { withLimits } from './fixtures/with-limits.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const answer = [accept('sure', {})];

test('[T11] [E3] waits between two attempts of an undo in the request if no token can hold the saga', async () => {
  const did: string[] = [];
  const clock = testClock();
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => void did.push('charge'), {
      compensate: ({ attempt }) => {
        if (attempt === 1) throw new Error('503');
        did.push('refund');
      },
      undo: { retry: { attempts: 2, delay: 60_000, jitter: false } },
    });
    yield* step('report', () => 'x'.repeat(100_000));
    yield* elicit('review', { message: 'Good?', schema: Empty });
    return 'done';
  });
  const { host } = hostOf(order, {
    store: memoryStore({ clock }),
    clock,
    testing: {
      sleep: async (ms) => {
        await Promise.resolve();
        clock.now += ms;
      },
    },
  });
  const { token } = suspended(await host.start('order', {}));
  expect(await host.resume(token, answer)).toMatchObject({
    status: 'failed',
    error: { code: 'token_too_large' },
    compensated: [{ stepId: 'charge' }],
    uncompensated: [],
  });
  expect(did).toEqual(['charge', 'refund']);
});

test('[E9] [R1] undoes an interrupted turn whose repetition exceeds the journal limit', async () => {
  const did: string[] = [];
  const clock = testClock();
  const store = memoryStore({ clock });
  const does = (what: string) =>
    step(what, () => void did.push(what), {
      compensate: ({ outcome }) =>
        void did.push(`${outcome === 'done' ? 'undo' : 'look up'} ${what}`),
      unknown: 'compensate',
    });
  const order = withLimits(
    saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* does('charge');
      yield* does('ship');
      return 'done';
    }),
    { maxJournalEntries: 2 },
  );
  const host = (change: Partial<SagaGuard> = {}) =>
    hostOf(order, {
      store: storeWithGuard(() => change, store),
      clock,
    }).host;
  const { token } = suspended(await host().start('order', {}));
  const gone = (): Promise<never> => Promise.reject(new Error('the process died'));
  await expect(host({ finish: gone, release: gone }).resume(token, answer)).rejects.toThrow();
  clock.now += 70_000;
  expect(await host().resume(token, answer)).toMatchObject({
    status: 'failed',
    compensated: [{ stepId: 'ship' }, { stepId: 'charge' }],
    uncompensated: [{ stepId: 'turn 2' }],
  });
  expect(did).toEqual(['charge', 'charge', 'look up ship', 'undo charge']);
});
