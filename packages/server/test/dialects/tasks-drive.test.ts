import {
  elicit,
  generateKey,
  memoryStore,
  race,
  saga,
  sleep,
  step,
  type SagaStore,
} from '@mcp-saga/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { asksInTask, releases, runsOnce, Target, type Runs } from '../fixtures/task-sagas.ts';
import { type HostChanges } from '../fixtures/host-changes.ts';

const accepted = (target: unknown) => ({ action: 'accept', content: { target } });
// The lease of a turn, and what the clocks of two hosts may differ.
const lease = 60_000;

/** Two hosts that share a store, a key and a clock, and nothing else. */
function two(
  sagas: Parameters<typeof hostOf>[0],
  options: HostChanges = {},
): {
  readonly hosts: readonly [TestHost, TestHost];
  readonly clock: TestClock;
  readonly store: SagaStore;
} {
  const clock = testClock();
  const store = memoryStore({ clock });
  const host = (): TestHost =>
    hostOf(sagas, {
      ...options,
      clock,
      limits: { maxHold: 0 },
      anonymous: { tasks: 'accept' },
      store,
    });
  return { hosts: [host(), host()], clock, store };
}

afterEach(() => {
  vi.useRealTimers();
});

test('[P2] a task started by one process continues on another', async () => {
  const runs: Runs = [];
  const { hosts } = two(asksInTask(runs));
  const [one, other] = [taskClient(hosts[0].host), taskClient(hosts[1].host)];
  const taskId = await one.start('asks');
  await one.idle();
  await other.update(taskId, { target: accepted('prod') });
  await other.idle();
  expect(await one.get(taskId)).toMatchObject({
    result: { content: [{ text: 'Deployed to prod' }] },
  });
  expect(runs.map((run) => run.split(' ')[0])).toEqual(['before', 'after']);
});

describe.each([
  ['without a guard', undefined],
  ['with a guard', 'guard'],
])('if a process dies in a step, %s', (_, guarded) => {
  test('[E1] [W7] the next polled process repeats it after the lease, with the same idempotency key', async () => {
    const keys: string[] = [];
    const never = deferred<void>();
    const began = deferred<void>();
    const dying = runsOnce(async (key) => {
      keys.push(key);
      began.resolve();
      if (keys.length === 1 && one.worksBehind) await never.promise;
    });
    const clock = testClock();
    const store = memoryStore({ clock });
    const shared = guarded === undefined ? {} : { store: memoryStore({ clock }) };
    const host = () =>
      hostOf(dying, { ...shared, clock, anonymous: { tasks: 'accept' }, store }).host;
    const [one, other] = [taskClient(host()), taskClient(host())];
    const taskId = await one.start('once');
    // The step runs after the response.
    await began.promise;
    clock.now += lease - 1;
    expect(await other.get(taskId)).toMatchObject({ status: 'working' });
    await other.idle();
    expect(keys).toHaveLength(1);
    clock.now += 1;
    expect(await other.get(taskId)).toMatchObject({ status: 'working' });
    await other.idle();
    expect(await other.get(taskId)).toMatchObject({ status: 'completed' });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    // The first process was not dead: its late result is ignored.
    never.resolve();
    await one.idle();
    expect(await one.get(taskId)).toMatchObject({ status: 'completed' });
  });

  test('the turn is repeated unchanged, whatever was answered or requested since', async () => {
    const log: string[] = [];
    const never = deferred<void>();
    const dying = saga(
      {
        name: 'dying',
        version: '1',
        task: 'prefer',
        reuse: guarded === undefined ? 'ok' : undefined,
      },
      function* () {
        yield* step('before', () => 1);
        yield* race({
          a: elicit('target', { message: 'A?', schema: Target }),
          b: elicit('target', { message: 'B?', schema: Target }),
        });
        yield* step(
          'release',
          async () => {
            log.push('release');
            if (log.length === 1 && one.worksBehind) await never.promise;
          },
          { compensate: () => void log.push('roll back') },
        );
        yield* sleep(60_000);
        return 'done';
      },
    );
    const clock = testClock();
    const store = memoryStore({ clock });
    const told: unknown[] = [];
    const host = () => {
      const made = hostOf(dying, {
        clock,
        limits: { maxHold: 0 },
        anonymous: { tasks: 'accept' },
        store,
      });
      told.push(made.told.errors);
      return made.host;
    };
    const [one, other] = [taskClient(host()), taskClient(host())];
    const taskId = await one.start('dying');
    await one.idle();
    await one.update(taskId, { target: accepted('a') });
    await expect.poll(() => log).toHaveLength(1);
    await other.update(taskId, { 'target#2': accepted('b') });
    await other.cancel(taskId);
    clock.now += lease;
    await other.get(taskId);
    await other.idle();
    expect(await other.get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(log).toEqual(['release', 'release', 'roll back']);
    expect(told).toEqual([[], []]);
    never.resolve();
    await one.idle();
  });
});

test('a step that takes longer than the lease extends the lease', async () => {
  vi.useFakeTimers();
  const slow = deferred<void>();
  let runs = 0;
  const store = memoryStore();
  const { host } = hostOf(
    runsOnce(async () => {
      runs += 1;
      if (client.worksBehind) await slow.promise;
    }),
    { clock: Object.assign(() => Date.now(), { now: 0 }), anonymous: { tasks: 'accept' }, store },
  );
  const client = taskClient(host);
  const taskId = await client.start('once');
  await vi.advanceTimersByTimeAsync(10 * lease);
  expect(await client.get(taskId)).toMatchObject({ status: 'working' });
  slow.resolve();
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(1);
});

test('a step goes on although the clock of the host that is polled is ahead', async () => {
  vi.useFakeTimers();
  const slow = deferred<void>();
  const store = memoryStore({ clock: () => Date.now() });
  const keys = generateKey();
  let runs = 0;
  const hostAt = (ahead: number) =>
    hostOf(
      runsOnce(async () => {
        runs += 1;
        if (one.worksBehind) await slow.promise;
      }),
      {
        keys,
        clock: Object.assign(() => Date.now() + ahead, { now: 0 }),
        anonymous: { tasks: 'accept' },
        store,
      },
    ).host;
  const one = taskClient(hostAt(0));
  const other = taskClient(hostAt(29_000));
  const taskId = await one.start('once');
  for (let count = 0; count < 12; count += 1) {
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await other.get(taskId)).toMatchObject({ status: 'working' });
  }
  slow.resolve();
  await one.idle();
  await other.idle();
  expect(await one.get(taskId)).toMatchObject({ status: 'completed' });
  expect(runs).toBe(1);
});

test('a short sleep ends behind the response', async () => {
  vi.useFakeTimers();
  const napping = saga({ name: 'napping', version: '1', task: 'prefer' }, function* () {
    yield* sleep(5_000);
    return yield* step('go', () => 'Went');
  });
  const { host } = hostOf(napping, {
    clock: Object.assign(() => Date.now(), { now: 0 }),
    anonymous: { tasks: 'accept' },
    store: memoryStore(),
  });
  const client = taskClient(host);
  const created = await client.call('napping');
  expect(created).toMatchObject({ pollIntervalMs: 5_000 });
  await vi.advanceTimersByTimeAsync(5_001);
  await client.idle();
  expect(await client.get(String(created['taskId']))).toMatchObject({ status: 'completed' });
});

test('a question that waits beside a clock is withdrawn when its time is over', async () => {
  const hurrying = saga({ name: 'hurrying', version: '1', task: 'prefer' }, function* () {
    yield* step('before', () => 1);
    const { winner } = yield* race({
      answer: elicit('target', { message: 'Where?', schema: Target }),
      late: sleep(60_000),
    });
    return winner === 'late' ? 'Too late' : 'In time';
  });
  const { hosts, clock } = two(hurrying);
  const client = taskClient(hosts[0].host);
  const taskId = await client.start('hurrying');
  await client.idle();
  clock.now += 59_999;
  expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
  clock.now += 1;
  await client.get(taskId);
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ result: { content: [{ text: 'Too late' }] } });
});

test('a failed drive is reported, and repeated when the lease has expired', async () => {
  const { hosts, clock } = two(asksInTask());
  let admits = false;
  const { host, told } = hostOf(asksInTask(), {
    clock,
    auth: { rateLimit: ({ turn }) => admits || turn === 1 },
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock }),
  });
  expect(hosts).toHaveLength(2);
  const client = taskClient(host);
  const taskId = await client.start('asks');
  await client.idle();
  expect(told.errors).toEqual([expect.objectContaining({ code: 'rate_limited' })]);
  admits = true;
  clock.now += lease;
  await client.get(taskId);
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
});

test('a failing store causes an error without details, and a report', async () => {
  const down = new Error('ECONNREFUSED 10.0.0.7');
  const broken: SagaStore = {
    ...memoryStore(),
    read: () => Promise.reject(down),
    write: () => Promise.reject(down),
  };
  const { host, told } = hostOf(asksInTask(), { anonymous: { tasks: 'accept' }, store: broken });
  const client = taskClient(host);
  await expect(client.call('asks')).rejects.toMatchObject({
    code: -32603,
    message: 'Internal error',
  });
  expect(told.errors).toEqual([down]);
});

test('stored answers and results are encrypted, and a changed record is not a task', async () => {
  const written: string[] = [];
  const clock = testClock();
  const inner = memoryStore({ clock });
  let tampers = false;
  const store: SagaStore = {
    ...inner,
    read: async (key) => {
      const stored = await inner.read(key);
      return tampers && stored !== undefined ? { ...stored, body: `${stored.body}A` } : stored;
    },
    write: (key, value, ...rest) => {
      written.push(key.group, key.name, value.head, value.body ?? '');
      return inner.write(key, value, ...rest);
    },
  };
  const { host } = hostOf(asksInTask(), { clock, anonymous: { tasks: 'accept' }, store });
  const client = taskClient(host);
  const taskId = await client.start('asks');
  await client.idle();
  await client.update(taskId, { target: accepted('marked-answer') });
  await client.idle();
  const texts = written.flatMap((text) => [
    text,
    Buffer.from(text, 'base64url').toString('latin1'),
  ]);
  for (const part of written.flatMap((text) => text.split('.')))
    texts.push(Buffer.from(part, 'base64url').toString('latin1'));
  expect(texts.join()).not.toMatch(/marked-answer|Where|Deployed/);
  expect(written).not.toContain(taskId);
  tampers = true;
  expect((await client.send('tasks/get', { taskId }, taskId)).last.error).toMatchObject({
    code: -32602,
  });
});

test('[E7] a task cancelled during a step is undone from its last step', async () => {
  const log: string[] = [];
  const { hosts } = two(releases(log));
  const client = taskClient(hosts[0].host);
  const taskId = await client.start('releases');
  // Before the first step has ended.
  await client.cancel(taskId);
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
  expect(log.length === 0 || log.join() === 'released,rolled back').toBe(true);
});
