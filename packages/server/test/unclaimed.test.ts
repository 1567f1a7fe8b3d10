import {
  all,
  elicit,
  memoryStore,
  saga,
  step,
  type SagaStore,
  type SagaTurn,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from './fixtures/clock.ts';
import { accept, hostOf, suspended } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const sure = accept('sure', {});

/** A store whose guard cannot be asked for claims, the first time. */
function guardDownOnce(clock: () => number): SagaStore {
  let isDown = true;
  return storeWithGuard(
    (guard) => ({
      claim: (key, expiresAt) => {
        if (!isDown) return guard.claim(key, expiresAt);
        isDown = false;
        throw new Error('ECONNREFUSED 10.0.0.7');
      },
    }),
    memoryStore({ clock }),
  );
}

function refused(turn: Promise<SagaTurn>): Promise<void> {
  return expect(turn).rejects.toMatchObject({ code: 'guard_down', public: true });
}

describe('a `once` step while the guard is down', () => {
  test('[T13] [E1] ends its turn, and the retry runs earlier steps with the same idempotency keys', async () => {
    const did: string[] = [];
    const clock = testClock();
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* step('charge', ({ idempotencyKey }) => void did.push(`charge ${idempotencyKey}`), {
        compensate: () => void did.push('refund'),
      });
      try {
        yield* step('thank', () => void did.push('thank'), { once: true });
      } catch {
        did.push('caught');
      }
      return 'done';
    });
    const { host, told } = hostOf(order, { store: guardDownOnce(clock), clock });
    const { token } = suspended(await host.start('order', {}));
    await refused(host.resume(token, [sure]));
    expect(told.errors).toMatchObject([
      {
        message: 'The guard cannot be reached: Error.',
        cause: { message: 'ECONNREFUSED 10.0.0.7' },
      },
    ]);
    expect(told.turns.map(({ status }) => status)).toEqual(['suspended']);
    expect(await host.resume(token, [sure])).toMatchObject({ result: 'done' });
    expect(did).toEqual([did[0], did[0], 'thank']);
  });

  test('[T13] [U3] aborts parallel steps, and waits until they end', async () => {
    const clock = testClock();
    let runs = 0;
    let running = 0;
    const order = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
      yield* all({
        slow: (function* () {
          yield* step('slow', async ({ signal }) => {
            runs += 1;
            running += 1;
            if (runs === 1)
              await new Promise((resolve) => signal.addEventListener('abort', resolve));
            running -= 1;
          });
        })(),
        thank: step('thank', () => undefined, { once: true }),
      });
      return 'done';
    });
    const { host } = hostOf(order, { store: guardDownOnce(clock), clock });
    await refused(host.start('order', {}));
    expect([runs, running]).toEqual([1, 0]);
    expect(await host.start('order', {})).toMatchObject({ result: 'done' });
  });

  test('[T13] [E3] undoes earlier steps in a first turn, because the client has no token', async () => {
    const did: string[] = [];
    const clock = testClock();
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      try {
        yield* step('thank', () => void did.push('thank'), { once: true });
      } catch {
        did.push('caught');
      }
      return 'done';
    });
    const { host } = hostOf(order, { store: guardDownOnce(clock), clock });
    expect(await host.start('order', {})).toMatchObject({
      status: 'failed',
      error: { code: 'guard_down', public: true },
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
    expect(did).toEqual(['charge', 'refund']);
    expect(await host.start('order', {})).toMatchObject({ result: 'done' });
  });

  test('[T13] [E3] reports earlier steps whose undo also needs a claim as uncompensated', async () => {
    const clock = testClock();
    const down = (): never => {
      throw new Error('ECONNREFUSED 10.0.0.7');
    };
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* step('charge', () => 1, {
        compensate: function* () {
          yield* step('refund', () => undefined, { once: true });
        },
      });
      yield* step('thank', () => undefined, { once: true });
      return 'done';
    });
    const { host } = hostOf(order, {
      store: storeWithGuard(() => ({ claim: down }), memoryStore({ clock })),
      clock,
    });
    expect(await host.start('order', {})).toMatchObject({
      error: { code: 'guard_down' },
      compensated: [],
      uncompensated: [{ stepId: 'charge' }],
    });
  });

  test('[T13] [E3] in an undo ends the cancellation, which a later request can repeat', async () => {
    const did: string[] = [];
    const clock = testClock();
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* step('charge', () => 1, {
        compensate: function* () {
          yield* step('refund', () => void did.push('refund'), { once: true });
        },
      });
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return 'done';
    });
    const { host } = hostOf(order, { store: guardDownOnce(clock), clock });
    const { token } = suspended(await host.start('order', {}));
    await refused(host.cancel(token));
    expect(did).toEqual([]);
    expect(await host.cancel(token)).toMatchObject({
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
    expect(did).toEqual(['refund']);
  });
});
