import {
  createSagaHost,
  generateKey,
  memoryStore,
  memoryQueue,
  saga,
  sleep,
  step,
  type QueueMessage,
} from '@mcp-saga/server';
import type { QueueConsumer } from '@mcp-saga/server/stores';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { start, testClock } from '../fixtures/clock.ts';
import { hour, minute } from './queued.ts';

const of = (sagaId: string, turn = 1): QueueMessage => ({
  sagaId,
  turn,
  token: `${sagaId} ${turn}`,
});

function consumed(change: Partial<QueueConsumer> = {}) {
  const clock = testClock();
  const delivered: string[] = [];
  const errors: unknown[] = [];
  const queue = memoryQueue();
  queue.start?.({
    deliver: async ({ sagaId, token }) => {
      delivered.push(token);
      return { status: 'ended', sagaId };
    },
    clock,
    sleep: undefined,
    onError: (error) => void errors.push(error),
    onWarning: () => undefined,
    ...change,
  });
  return { queue, clock, delivered, errors };
}

describe('the queue in memory', () => {
  it('[E8] delivers each due message once', async () => {
    const { queue, clock, delivered } = consumed();
    await queue.send(of('a'), start + hour);
    await queue.send(of('b'), start + 2 * hour);
    await queue.deliverDue();
    expect(delivered).toEqual([]);
    clock.now += hour;
    await queue.deliverDue();
    await queue.deliverDue();
    expect(delivered).toEqual(['a 1']);
    expect(queue.size).toBe(1);
  });

  it('[E8] keeps the message with the highest turn of each saga, and the later of two', async () => {
    const { queue, clock, delivered } = consumed();
    await queue.send(of('a', 2), start + hour);
    await queue.send(of('a', 1), start);
    await queue.deliverDue();
    expect(delivered).toEqual([]);
    await queue.send({ ...of('a', 2), token: 'again' }, start + 2 * hour);
    clock.now += hour;
    await queue.deliverDue();
    expect(delivered).toEqual([]);
    await queue.wake?.('a');
    await queue.wake?.('unknown');
    await queue.deliverDue();
    expect(delivered).toEqual(['again']);
  });

  it('[E8] delivers the next message at once if the saga is woken during a delivery', async () => {
    const tries: number[] = [];
    const { queue, clock } = consumed({
      deliver: async ({ sagaId, turn }) => {
        tries.push(turn);
        if (turn === 1) {
          await queue.wake?.('a');
          await queue.send(of('a', 2), start + hour);
        } else if (turn === 2) await queue.send(of('a', 3), start + hour);
        return { status: 'waiting', sagaId };
      },
    });
    await queue.send(of('a'), start);
    await queue.deliverDue();
    expect(tries).toEqual([1, 2]);
    clock.now += hour;
    await queue.deliverDue();
    expect(tries).toEqual([1, 2, 3]);
    expect(queue.size).toBe(0);
  });

  it('[E8] delivers the next message at once if the saga was woken before it was sent', async () => {
    const { queue, clock, delivered } = consumed();
    await queue.send(of('a'), start + hour);
    await queue.wake?.('a');
    await queue.send(of('a', 2), start + 2 * hour);
    await queue.deliverDue();
    expect(delivered).toEqual(['a 2']);
    await queue.send(of('a', 3), start + hour);
    await queue.deliverDue();
    expect(delivered).toEqual(['a 2']);
    clock.now += hour;
    await queue.deliverDue();
    expect(delivered).toEqual(['a 2', 'a 3']);
  });

  it('[E8] delivers the next message at once if the delivery of a woken saga fails', async () => {
    const tries: number[] = [];
    const { queue } = consumed({
      deliver: async ({ sagaId, turn }) => {
        tries.push(turn);
        if (turn > 1) return { status: 'waiting', sagaId };
        // The client ran the turn meanwhile.
        await queue.send(of('a', 2), start + hour);
        throw new Error('busy');
      },
    });
    await queue.send(of('a'), start + hour);
    await queue.wake?.('a');
    await queue.deliverDue();
    expect(tries).toEqual([1, 2]);
  });

  it('[E8] forgets the message of a saga that has ended', async () => {
    const { queue, delivered } = consumed();
    await queue.send(of('a'), start);
    await queue.remove?.('a');
    await queue.remove?.('a');
    await queue.deliverDue();
    expect(delivered).toEqual([]);
  });

  it('[E8] delivers a failed message again with growing delays, unless a newer message arrived', async () => {
    const tries: number[] = [];
    const { queue, clock, errors } = consumed({
      deliver: async ({ turn }) => {
        tries.push(turn);
        throw new Error('busy');
      },
    });
    await queue.send(of('a'), start);
    await queue.deliverDue();
    expect(tries).toEqual([1]);
    clock.now += 1_000;
    await queue.deliverDue();
    expect(tries).toEqual([1, 1]);
    clock.now += hour;
    const failing = queue.deliverDue();
    await queue.send(of('a', 2), start + 5 * hour);
    await failing;
    expect(tries).toEqual([1, 1, 1]);
    expect(errors).toHaveLength(3);
    clock.now += minute;
    await queue.deliverDue();
    expect(tries).toEqual([1, 1, 1]);
    expect(queue.size).toBe(1);
  });

  it('[E8] waits with the sleep of the host, and stops if its clock does not advance', async () => {
    const waits: number[] = [];
    const clock = testClock();
    const { queue, delivered } = consumed({
      clock,
      sleep: async (ms) => {
        waits.push(ms);
        if (waits.length > 1) clock.now += ms;
      },
    });
    await queue.send(of('a'), start + hour);
    await new Promise((resolve) => setImmediate(resolve));
    expect([waits, delivered]).toEqual([[hour], []]);
    await queue.send(of('b'), start + hour);
    await new Promise((resolve) => setImmediate(resolve));
    expect(delivered).toEqual(['b 1']);
  });
});

describe('the queue in memory, with timers', () => {
  beforeEach(() => void vi.useFakeTimers({ now: start }));
  afterEach(() => void vi.useRealTimers());

  it('[E8] runs a saga of a host to completion, also after a wait of many weeks', async () => {
    const did: string[] = [];
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* sleep(40 * 24 * hour);
      yield* step('remind', () => void did.push('remind'));
      yield* sleep(hour);
      yield* step('ship', () => void did.push('ship'));
      return 'done';
    });
    const queue = memoryQueue();
    const host = createSagaHost({
      sagas: [order],
      keys: generateKey(),
      name: 'shop',
      store: memoryStore(),
      queue,
      limits: { maxLifetime: 100 * 24 * hour },
      testing: { environment: 'test' },
    });
    await host.start('order', {});
    await vi.advanceTimersByTimeAsync(39 * 24 * hour);
    expect(did).toEqual([]);
    await vi.advanceTimersByTimeAsync(24 * hour + 10 * minute);
    expect(did).toEqual(['remind']);
    await vi.advanceTimersByTimeAsync(2 * hour);
    expect(did).toEqual(['remind', 'ship']);
    expect(queue.size).toBe(0);
  });
});

describe('a host with a queue', () => {
  const waits = (name: string, reuse?: 'ok') =>
    saga({ name, version: '1', reuse }, function* () {
      yield* sleep(hour);
      return 'done';
    });
  const common = { sagas: [waits('order')], keys: generateKey(), name: 'shop' };
  const store = memoryStore({ olderTokens: 'accept' });

  it('[E7] needs a store', () => {
    expect(() => createSagaHost({ ...common, queue: memoryQueue() })).toThrow(
      /^queue: requires a store/,
    );
    expect(() => createSagaHost({ ...common, store, queue: memoryQueue as never })).toThrow(
      /Call it: memoryQueue/,
    );
    const bad = { ...memoryQueue(), remove: 1 } as never;
    expect(() => createSagaHost({ ...common, store, queue: bad })).toThrow('queue.remove');
  });

  it('[E7] warns at the start about sagas without wake-ups, and about lost messages after a restart', () => {
    const warned = (environment: string, sagas = common.sagas): readonly string[] => {
      const warnings: string[] = [];
      createSagaHost({
        ...common,
        sagas,
        store,
        queue: memoryQueue(),
        testing: { environment },
        hooks: { onWarning: (message) => void warnings.push(message) },
      });
      return warnings;
    };
    expect(warned('test')).toEqual([]);
    expect(warned('development')).toEqual([]);
    expect(warned('production')).toEqual([expect.stringMatching(/^memoryQueue\(\) loses/)]);
    expect(warned('test', [...common.sagas, waits('plain', 'ok')])).toEqual([
      expect.stringMatching(/does not wake 'plain'/),
    ]);
  });
});
