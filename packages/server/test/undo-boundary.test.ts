import {
  elicit,
  memoryStore,
  now,
  saga,
  sleep,
  step,
  StepTimedOut,
  type Program,
  type StepAnswer,
  type Steps,
} from '@mcp-saga/server';
import type { ProgramLimits } from '@mcp-saga/core/program';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { expect, test } from 'vitest';
import { start as startTime, testClock } from './fixtures/clock.ts';
import { hostOf, suspended } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { withLimits } from './fixtures/with-limits.ts';
import { recordingQueue, type Sent } from './queue/queued.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { restartLog } from '../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

/** Charges, and fails the first time it ships. */
function shop() {
  const did: string[] = [];
  let ships = 0;
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* step('ship', () => {
      ships += 1;
      if (ships === 1) throw new Error('no parcels today');
      did.push('ship');
    });
    return 'shipped';
  });
  return { did, order };
}

test('[E1] [E3] stores the effects of a turn before it undoes them, so a repeated request runs none again', async () => {
  const { did, order } = shop();
  const clock = testClock();
  const aborting = new AbortController();
  let aborts = false;
  const store = storeWithGuard(
    (guard) => ({
      finish: (fence, response) => {
        if (aborts) aborting.abort();
        return guard.finish(fence, response);
      },
    }),
    memoryStore({ clock }),
  );
  const { host, told } = hostOf(order, { store, clock });
  const first = await host.start('order', {});
  if (first.status !== 'suspended') throw new Error(first.status);
  const answer = [{ stepId: 'sure', result: { action: 'accept', content: {} } }];
  // The request is aborted as soon as the undo begins, so the client does not get the result.
  aborts = true;
  await expect(host.resume(first.token, answer, { signal: aborting.signal })).rejects.toThrow(
    'aborted',
  );
  aborts = false;
  expect(did).toEqual(['charge']);

  const end = await host.resume(first.token, answer);
  expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
  expect(did.filter((what) => what === 'charge')).toHaveLength(1);
  expect(did).not.toContain('ship');
  expect(told.errors).toEqual([]);
});

/**
 * A host whose process dies right after the refund: the guard stores nothing more until another
 * process takes over.
 */
function dying(body: (did: string[]) => Steps<string>, limits: Partial<ProgramLimits> = {}) {
  const did: string[] = [];
  const clock = testClock();
  let begun = 0;
  let isDead = false;
  const store = storeWithGuard(
    (guard) => ({
      begin: (claim) => {
        begun += 1;
        return guard.begin(claim);
      },
      finish: (...turn) => {
        if (isDead) throw new Error('dead');
        return guard.finish(...turn);
      },
      release: (...turn) => (isDead ? undefined : guard.release(...turn)),
    }),
    memoryStore({ clock }),
  );
  const charge = step('charge', () => void did.push('charge'), {
    compensate: () => {
      did.push('refund');
      isDead = did.filter((what) => what === 'refund').length === 1;
    },
  });
  const order = withLimits(
    saga({ name: 'order', version: '1' }, function* () {
      yield* charge;
      return yield* body(did);
    }),
    limits,
  );
  const hostFor = (program: Program = order) =>
    hostOf(program, { store, clock, limits: { maxHold: 0 } }).host;
  return {
    did,
    charge,
    hostFor,
    begins: () => begun,
    /** Another process takes the request after the lease of the dead process has expired. */
    comeBack: (later: number) => {
      isDead = false;
      clock.now += later;
    },
    clock,
  };
}

const hour = 3_600_000;
const ship = (did: string[]) => step('ship', () => void did.push('ship'));
const declines: StepAnswer[] = [{ stepId: 'sure', result: { action: 'decline' } }];
const accepts: StepAnswer[] = [{ stepId: 'sure', result: { action: 'accept', content: {} } }];

test.each<[string, readonly StepAnswer[], (did: string[]) => Steps<string>]>([
  [
    'a decline that is too late in the repetition',
    declines,
    function* (did) {
      try {
        yield* elicit('sure', { message: 'Sure?', schema: Empty, timeout: hour });
      } catch (error) {
        if (!(error instanceof StepTimedOut)) throw error;
      }
      yield* ship(did);
      return 'shipped';
    },
  ],
  [
    'a read of the clock',
    accepts,
    function* (did) {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      if ((yield* now()) < startTime + hour) throw new Error('The shop is not open yet.');
      yield* ship(did);
      return 'shipped';
    },
  ],
  [
    'a shop that opens after a sleep',
    [],
    function* (did) {
      yield* sleep(1_000);
      if ((yield* now()) < startTime + hour) throw new Error('The shop is not open yet.');
      yield* ship(did);
      return 'shipped';
    },
  ],
])('[E1] [E3] %s does not ship after a refund in a repeated request', async (_, answers, body) => {
  const { did, hostFor, comeBack, clock } = dying(body);
  const { token } = suspended(await hostFor().start('order', {}));
  clock.now += 2_000;
  await expect(hostFor().resume(token, answers)).rejects.toThrow();
  expect(did).toEqual(['charge', 'refund']);
  comeBack(hour);
  expect(await hostFor().resume(token, answers)).toMatchObject({
    status: 'failed',
    compensated: [{ stepId: 'charge' }],
  });
  // The refund without a response runs again, with the same key.
  expect(did).toEqual(['charge', 'refund', 'refund']);
});

test('[E1] [R3] code that fits does not ship after a refund that other code caused by a mismatch', async () => {
  const { did, charge, hostFor, comeBack } = dying(function* (notes) {
    yield* step('look', () => 1);
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* ship(notes);
    return 'shipped';
  });
  const changed = saga({ name: 'order', version: '1', onMismatch: 'compensate' }, function* () {
    yield* charge;
    yield* step('look again', () => 1);
    return 'kept';
  });
  const { token } = suspended(await hostFor().start('order', {}));
  await expect(hostFor(changed).resume(token, accepts)).rejects.toThrow();
  expect(did).toEqual(['charge', 'refund']);
  comeBack(hour);
  expect(await hostFor().resume(token, accepts)).toMatchObject({
    status: 'failed',
    compensated: [{ stepId: 'charge' }],
  });
  expect(did).toEqual(['charge', 'refund', 'refund']);
});

test('[E1] stores a decline before the undo, in the same request, with one more lease of the guard', async () => {
  const { did, hostFor, begins } = dying(function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    return 'kept';
  });
  const { token } = suspended(await hostFor().start('order', {}));
  await hostFor()
    .resume(token, declines)
    .catch(() => undefined);
  expect([did, begins()]).toEqual([['charge', 'refund'], 2]);
});

test('[E1] [T11] does not ship after a refund by the journal limit, even if the repeated run is shorter', async () => {
  let parcels = 5;
  const { did, hostFor, comeBack } = dying(
    function* (notes) {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      const count = yield* step('parcels', () => parcels);
      for (let index = 0; index < count; index += 1) yield* ship(notes);
      return 'shipped';
    },
    { maxJournalEntries: 5 },
  );
  const { token } = suspended(await hostFor().start('order', {}));
  await expect(hostFor().resume(token, accepts)).rejects.toThrow();
  expect(did).toEqual(['charge', 'ship', 'ship', 'refund']);
  comeBack(hour / 2);
  parcels = 1;
  expect(await hostFor().resume(token, accepts)).toMatchObject({
    status: 'failed',
    compensated: [{ stepId: 'charge' }],
  });
  expect(did).toEqual(['charge', 'ship', 'ship', 'refund', 'refund']);
});

test('[E1] [T11] does not ship after a refund by the token limit, even if the repeated result is smaller', async () => {
  let size = 100_000;
  const { did, hostFor, comeBack } = dying(function* (notes) {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('report', () => 'x'.repeat(size));
    yield* elicit('more', { message: 'More?', schema: Empty });
    yield* ship(notes);
    return 'shipped';
  });
  const { token } = suspended(await hostFor().start('order', {}));
  await expect(hostFor().resume(token, accepts)).rejects.toThrow();
  expect(did).toEqual(['charge', 'refund']);
  comeBack(hour / 2);
  size = 10;
  expect(await hostFor().resume(token, accepts)).toMatchObject({
    status: 'failed',
    error: { code: 'token_too_large' },
    compensated: [{ stepId: 'charge' }],
  });
  expect(did).toEqual(['charge', 'refund', 'refund']);
});

test('[E8] [T11] the queue undoes a saga over the token limit if its process and its client are gone', async () => {
  expectLogs(/'large' failed in turn 3.*token_too_large/);
  const did: string[] = [];
  const queue = recordingQueue();
  const clock = testClock();
  const store = memoryStore({ clock });
  const large = saga({ name: 'large', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => 'x'.repeat(100_000), { compensate: () => void did.push('refund') });
    yield* elicit('more', { message: 'More?', schema: Empty });
    return 'shipped';
  });
  const hostFor = (change: (guard: SagaGuard) => Partial<SagaGuard> = () => ({})) =>
    hostOf(large, {
      store: storeWithGuard(change, store),
      clock,
      queue,
      hooks: { onError: () => undefined },
    }).host;
  const { token, sagaId } = suspended(await hostFor().start('large', {}));
  // The process dies after it has stored the failure of the saga.
  let begun = 0;
  const dies = hostFor((guard) => ({
    begin: (claim) => {
      begun += 1;
      if (begun > 1) throw new Error('dead');
      return guard.begin(claim);
    },
  }));
  await expect(dies.resume(token, accepts)).rejects.toMatchObject({ code: 'guard_down' });
  expect(did).toEqual([]);
  const { message, at } = queue.sent.at(-1) as Sent;
  clock.now = at;
  expect(await hostFor().deliver(message)).toEqual({ status: 'ended', sagaId });
  expect(did).toEqual(['refund']);
  expect(await hostFor().resume(token, accepts)).toMatchObject({
    status: 'failed',
    compensated: [{ stepId: 'charge' }],
    uncompensated: [],
  });
  expect(did).toEqual(['refund']);
});
