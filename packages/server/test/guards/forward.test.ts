import {
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  pivot,
  poll,
  ReplayMismatch,
  saga,
  sleep,
  step,
  StepTimedOut,
  type Program,
  type QueueMessage,
  type SagaHost,
  type SagaStore,
  type Steps,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, it } from 'vitest';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { minute, recordingQueue, type Sent } from '../queue/queued.ts';
import { gone, hour, Ok } from './guarded-hosts.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const day = 24 * hour;

/**
 * A saga past its pivot whose client can no longer return, and whose message is late: its queue was
 * down. Effects and ends are in `did`, and what the queue gets from here on is in `sent`.
 */
async function left(
  rest: (did: string[]) => Steps<void>,
  change: (guard: SagaGuard, clock: TestClock) => Partial<SagaGuard> = () => ({}),
) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const did: string[] = [];
  const queue = recordingQueue();
  const keys = generateKey();
  const parcel = saga({ name: 'parcel', version: '1' }, function* () {
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* pivot('charged');
    yield* step('pack', () => void did.push('pack'), { compensate: () => void did.push('unpack') });
    yield* checkpoint();
    yield* rest(did);
    yield* step('ship', () => void did.push('ship'));
    return 'on its way';
  });
  const hostOf = (served: Program, of: SagaStore = store): SagaHost =>
    createSagaHost({
      sagas: [served],
      keys,
      name: 'shop',
      testing: { environment: 'production', clock, sleep: async (ms) => void (clock.now += ms) },
      store: of,
      queue,
      hooks: {
        onTurn: ({ status }) => {
          if (status !== 'suspended') did.push(status);
        },
        onError: () => undefined,
        onReject: () => undefined,
        onSettled: ({ uncompensated }) => void did.push(`settled ${uncompensated.length}`),
      },
    });
  const host = hostOf(
    parcel,
    storeWithGuard((guard) => change(guard, clock), store),
  );
  const { expiresAt, sagaId, turn } = suspended(await host.start('parcel', {}));
  expect(did.splice(0)).toEqual(['charge', 'pack']);
  const { message } = queue.sent.splice(0).at(-1) as Sent;
  clock.now = expiresAt + minute;
  return { host, hostOf, clock, did, sent: queue.sent, message, sagaId, turn };
}

/** Time that the queue may leave a client to come first. */
const grace = 30_000;

/** The last message of the queue, which is due at a time, or after the grace for a client. */
function newest(sent: readonly Sent[], due: number): QueueMessage {
  const { message, at } = sent.at(-1) as Sent;
  expect(at).toBeGreaterThanOrEqual(due);
  expect(at).toBeLessThanOrEqual(due + grace);
  return message;
}

/** The end of a saga that was not undone: its turn, and what the operator is told. */
const completed = ['completed', 'settled 0'];

describe('an abandoned saga past its pivot', () => {
  it('[E2] [E5] [E8] continues through waits that fit into a request', async () => {
    let tries = 0;
    const { host, did, message, sagaId } = await left(function* (done) {
      yield* step(
        'label',
        () => {
          done.push('label');
          if ((tries += 1) < 3) throw new Error('503');
        },
        { retry: { attempts: 5, delay: 200 } },
      );
      yield* sleep(1_000);
      let asked = 0;
      yield* poll('labelled', () => ((asked += 1) > 2 ? true : undefined), {
        every: 1_000,
        timeout: 60_000,
      });
    });
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['label', 'label', 'label', 'ship', ...completed]);
  });

  it('[E5] [E8] stays suspended through a wait too long for a request, and is due when it ends', async () => {
    const { host, clock, did, sent, message, sagaId, turn } = await left(function* () {
      yield* sleep(8 * day);
    });
    const due = clock.now + 8 * day;
    const waits = { status: 'waiting', sagaId, at: due };
    expect(await host.deliver(message)).toEqual(waits);
    // The message of the waiting turn is due when the wait ends, although the lifetime of the saga
    // is seven days.
    const later = newest(sent, due);
    expect(later).toMatchObject({ sagaId, turn: turn + 1 });
    clock.now = due - minute;
    sent.length = 0;
    expect(await host.deliver(message)).toEqual(waits);
    // Nothing began too early. The queue was told again, in case the message was dropped.
    expect(newest(sent, due)).toMatchObject({ sagaId, turn: turn + 1 });
    expect(sent).toHaveLength(1);
    expect(did).toEqual([]);
    clock.now = due;
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(await host.deliver(later)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['ship', ...completed, 'settled 0']);
  });

  it('[E5] [E8] is not ended by a message that comes before its wait is over', async () => {
    const { host, clock, did, sent, message, sagaId } = await left(function* () {
      yield* sleep(8 * day);
    });
    const due = clock.now + 8 * day;
    await host.deliver(message);
    const early = newest(sent, due);
    // A queue may wake the saga at any time.
    for (const before of [7 * day + hour, 3 * day, hour]) {
      clock.now = due - before;
      expect(await host.deliver(early)).toMatchObject({ status: 'waiting', sagaId });
      expect(did).toEqual([]);
    }
    clock.now = due;
    expect(await host.deliver(newest(sent, due))).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['ship', ...completed]);
  });

  it('[E5] [E8] continues to poll by the messages of its own turns, until the poll succeeds', async () => {
    let packed = 0;
    const { host, clock, did, sent, message, sagaId, turn } = await left(function* (asked) {
      yield* poll('packed', () => (asked.push('?'), (packed += 1) > 3 ? true : undefined), {
        every: hour,
        timeout: day,
      });
    });
    let next = message;
    for (let polls = 1; polls < 4; polls += 1) {
      const at = clock.now + hour;
      expect(await host.deliver(next)).toEqual({ status: 'waiting', sagaId, at });
      next = newest(sent, at);
      expect(next).toMatchObject({ sagaId, turn: turn + polls });
      // Too early, nothing runs.
      clock.now = at - minute;
      expect(await host.deliver(next)).toMatchObject({ status: 'waiting', sagaId });
      expect(newest(sent, at)).toMatchObject({ sagaId, turn: turn + polls });
      expect(did).toHaveLength(polls);
      clock.now = at;
    }
    expect(await host.deliver(next)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['?', '?', '?', '?', 'ship', ...completed]);
  });

  it('[E5] [E8] continues without an answer after the deadline of its question', async () => {
    const { host, clock, did, sent, message, sagaId } = await left(function* () {
      try {
        yield* elicit('gift', { message: 'As a gift?', schema: Ok, timeout: hour });
      } catch (error) {
        if (!(error instanceof StepTimedOut)) throw error;
      }
    });
    const deadline = clock.now + hour;
    expect(await host.deliver(message)).toEqual({ status: 'waiting', sagaId, at: deadline });
    const later = newest(sent, deadline);
    clock.now = deadline;
    expect(await host.deliver(later)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['ship', ...completed]);
  });

  it('[E5] [E8] [U4] continues over several turns within the time of a request', async () => {
    const { host, clock, did, sent, message, sagaId } = await left(
      function* () {
        for (let page = 0; page < 150; page += 1) {
          yield* step('page', () => void (clock.now += 1_000), { key: `${page}` });
          yield* checkpoint();
        }
      },
      // A slow guard.
      (guard, time) => ({
        begin: (claim) => {
          time.now += 300;
          return guard.begin(claim);
        },
      }),
    );
    const began = clock.now;
    const delivery = await host.deliver(message);
    expect(delivery).toEqual({ status: 'waiting', sagaId, at: clock.now });
    expect(clock.now - began).toBe(20 * 1_300);
    // The queue goes on from here, also if this process dies.
    expect(newest(sent, clock.now)).toMatchObject({ sagaId });
    // The first message follows all stored turns, and the remaining work still has the whole
    // budget.
    for (let deliveries = 1; deliveries < 7; deliveries += 1) {
      clock.now += hour;
      expect(await host.deliver(message)).toMatchObject({ status: 'waiting' });
    }
    const later = newest(sent, clock.now);
    clock.now += hour;
    // The newest one has less to walk.
    expect(await host.deliver(later)).toEqual({ status: 'ended', sagaId });
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['ship', ...completed, 'settled 0']);
  });

  it('[E5] [E8] stays suspended if its code was changed, for a rollback', async () => {
    const { host, hostOf, did, message, sagaId } = await left(function* () {
      yield* sleep(1_000);
    });
    const changed = saga({ name: 'parcel', version: '1' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* pivot('charged');
      yield* step('wrap', () => void did.push('wrap'));
      return 'wrapped';
    });
    await expect(hostOf(changed).deliver(message)).rejects.toBeInstanceOf(ReplayMismatch);
    expect(did).toEqual([]);
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['ship', ...completed]);
  });

  it('[E1] [E5] [E8] continues forward after a crash, and never compensates', async () => {
    let store: 'here' | 'gone' = 'here';
    const keys: string[] = [];
    const { host, clock, did, sent, message, sagaId } = await left(
      function* () {
        yield* step('label', ({ idempotencyKey }) => void keys.push(idempotencyKey));
        yield* sleep(hour);
      },
      (guard) => ({ finish: (...kept) => (store === 'here' ? guard.finish(...kept) : gone()) }),
    );
    store = 'gone';
    await expect(host.deliver(message)).rejects.toMatchObject({ code: 'guard_down' });
    store = 'here';
    clock.now += 70_000;
    const at = clock.now + hour;
    expect(await host.deliver(message)).toEqual({ status: 'waiting', sagaId, at });
    const later = newest(sent, at);
    clock.now = at;
    expect(await host.deliver(later)).toEqual({ status: 'ended', sagaId });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(did).toEqual(['ship', ...completed]);
  });
});
