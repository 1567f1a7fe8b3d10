import {
  all,
  AnswerConflict,
  elicit,
  memoryStore,
  saga,
  SagaHostError,
  SealError,
  sleep,
  step,
  TurnAborted,
  type Program,
} from '@mcp-saga/server';
import { CodecError, engineOf } from '@mcp-saga/server/internal';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { Target } from '../fixtures/task-sagas.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const accepted = (target: string) => ({ action: 'accept', content: { target } });
// The lease of a turn, and what the clocks of two hosts may differ.
const lease = 60_000;

interface Thrown {
  /** What turns throw that bring an answer. */
  turn?: unknown;
  /** What turns throw that undo. */
  undoing?: unknown;
}

/** Releases, asks, and ships. */
function stuck(log: string[], thrown: Thrown): Program {
  const ships = saga({ name: 'ships', version: '1', task: 'prefer', reuse: 'ok' }, function* () {
    yield* step('release', () => void log.push('released'), {
      compensate: () => void log.push('rolled back'),
    });
    yield* elicit('target', { message: 'Where?', schema: Target });
    yield* sleep(24 * 3_600_000);
    return 'shipped';
  });
  const engine = engineOf(ships);
  return {
    ...ships,
    engine: {
      ...engine,
      advance: async (state, answers, runtime, end) => {
        const error = end === undefined ? answers.size > 0 && thrown.turn : thrown.undoing;
        if (error instanceof Error) throw error;
        return await engine.advance(state, answers, runtime, end);
      },
    },
  };
}

/**
 * A task whose client has answered. `later` returns its status after a read at the end of the
 * lease.
 */
async function answered(program: Program) {
  const clock = testClock();
  const tested = hostOf(program, {
    clock,
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock }),
  });
  const client = taskClient(tested.host);
  const taskId = await client.start(program.name);
  await client.idle();
  await client.update(taskId, { target: accepted('prod') });
  await client.idle();
  return {
    told: tested.told,
    cancel: () => client.cancel(taskId),
    get: () => client.get(taskId),
    later: async (): Promise<unknown> => {
      await client.idle();
      clock.now += lease;
      await client.get(taskId);
      await client.idle();
      return (await client.get(taskId))['status'];
    },
  };
}

describe('a task with a throwing turn', () => {
  test.each([
    ['an answer that conflicts', new AnswerConflict('target')],
    ['an invalid request', new SagaHostError('invalid_params', 'too many')],
    ['a failure to seal', new SealError('arguments', 'too deep')],
    ['a failure to encode', new CodecError('unencodable', 'value', 'too deep')],
  ])(
    '[W7] [E3] fails and is undone after an error that would repeat in each turn: %s',
    async (_, turn) => {
      const log: string[] = [];
      const { get, told } = await answered(stuck(log, { turn }));
      expect(await get()).toMatchObject({
        status: 'failed',
        error: { code: -32603, message: 'The task cannot continue.' },
      });
      expect(log).toEqual(['released', 'rolled back']);
      expect(told.errors).toEqual([turn]);
    },
  );

  test('[W7] [E3] is retried after a temporary error, and undone after a cancellation', async () => {
    const log: string[] = [];
    const { later, cancel } = await answered(stuck(log, { turn: new Error('unreachable') }));
    expect(await later()).toBe('working');
    await cancel();
    expect(await later()).toBe('cancelled');
    expect(log).toEqual(['released', 'rolled back']);
  });

  test.each([
    ['another process runs its turn', new SagaHostError('busy', 'later')],
    ['its lease was lost', new TurnAborted(new Error('lost'))],
  ])('[W7] [E1] is not undone during its turn, although it was cancelled: %s', async (_, turn) => {
    const log: string[] = [];
    const thrown: Thrown = { turn };
    const { later, cancel } = await answered(stuck(log, thrown));
    await cancel();
    expect(await later()).toBe('working');
    expect(log).toEqual(['released']);
    delete thrown.turn;
    expect(await later()).toBe('cancelled');
    expect(log).toEqual(['released', 'rolled back']);
  });

  test('[W7] [E3] is undone later if not possible now, and fails if never possible', async () => {
    const log: string[] = [];
    const thrown: Thrown = { undoing: new Error('unreachable') };
    const { later, cancel } = await answered(stuck(log, thrown));
    await cancel();
    expect(await later()).toBe('working');
    delete thrown.undoing;
    expect(await later()).toBe('cancelled');
    expect(log).toEqual(['released', 'rolled back']);

    const never = await answered(stuck(log, { undoing: new SealError('arguments', 'too deep') }));
    await never.cancel();
    expect(await never.later()).toBe('failed');
  });
});

test('[W7] [T11] accepts several updates while a turn of it runs', async () => {
  const held = deferred<void>();
  const begun = deferred<void>();
  const ask = (message: string) => elicit('target', { message, schema: Target });
  const slow = function* () {
    const { target } = yield* ask('1?');
    yield* step('aside', async () => {
      begun.resolve();
      await held.promise;
    });
    return { target };
  };
  const many = saga({ name: 'many', version: '1', task: 'prefer' }, function* () {
    yield* step('before', () => 1);
    const { first, second, third } = yield* all({
      first: slow(),
      second: ask('2?'),
      third: ask('3?'),
    });
    return [first, second, third].map(({ target }) => target).join();
  });
  const clock = testClock();
  const store = memoryStore({ clock });
  const { host, told } = hostOf(many, { clock, anonymous: { tasks: 'accept' }, store });
  const client = taskClient(host);
  const taskId = await client.start('many');
  await client.idle();
  const asked = await client.get(taskId);
  const [first, second, third] = Object.keys(asked['inputRequests'] as object) as [
    string,
    string,
    string,
  ];
  await client.update(taskId, { [first]: accepted('0') });
  await begun.promise;
  await client.update(taskId, { [second]: accepted('1') });
  await client.update(taskId, { [third]: accepted('2') });
  held.resolve();
  await client.idle();
  expect(told.errors).toEqual([]);
  expect(await client.get(taskId)).toMatchObject({ result: { content: [{ text: '0,1,2' }] } });
});

test('[W7] [T11] a result that cannot be stored fails its task, and is not computed again', async () => {
  let runs = 0;
  const large = saga({ name: 'large', version: '1', task: 'prefer', reuse: 'ok' }, function* () {
    yield* step('make', () => void (runs += 1), { keep: false });
    return 'x'.repeat(64 * 1024 * 1024);
  });
  const clock = testClock();
  const { host, told } = hostOf(large, {
    clock,
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock }),
  });
  const client = taskClient(host);
  const taskId = await client.start('large');
  await client.idle();
  clock.now += lease;
  expect(await client.get(taskId)).toMatchObject({ status: 'failed' });
  await client.idle();
  expect(runs).toBe(1);
  expect(told.errors).toHaveLength(1);
});

describe('a task with a guard that fails once', () => {
  test.each([
    { nth: 1, call: 'the begin of a turn', ends: false },
    { nth: 2, call: 'the end of a turn', ends: false },
    { nth: 3, call: 'the begin of the next turn', ends: false },
    { nth: 4, call: 'a claim', ends: false },
    // The step has run, and cannot run again: its unknown outcome fails the saga, and that is
    // undone.
    { nth: 5, call: 'the end of a turn in which a step has run once', ends: true },
    { nth: 6, call: 'the begin of the turn that asks', ends: false },
    { nth: 7, call: 'the end of the turn that asks', ends: false },
  ])('[W7] [E3] completes, or is undone, if the guard fails at $call', async ({ nth, ends }) => {
    const log: string[] = [];
    const clock = testClock();
    let calls = 0;
    const asked = (): void => {
      calls += 1;
      if (calls === nth) throw new Error('ECONNREFUSED');
    };
    const flaky = storeWithGuard(
      (guard) => ({
        begin: (claim) => (asked(), guard.begin(claim)),
        finish: (fence, response) => (asked(), guard.finish(fence, response)),
        claim: (key, expiresAt) => (asked(), guard.claim(key, expiresAt)),
      }),
      memoryStore({ clock }),
    );
    const ships = saga({ name: 'ships', version: '1', task: 'prefer' }, function* () {
      yield* step('charge', ({ idempotencyKey }) => void log.push(`charge ${idempotencyKey}`), {
        compensate: () => void log.push('refund'),
      });
      yield* step('ship', () => void log.push('ship'), { once: true });
      yield* elicit('target', { message: 'Where?', schema: Target });
      return 'shipped';
    });
    const { host } = hostOf(ships, { clock, store: flaky, anonymous: { tasks: 'accept' } });
    const client = taskClient(host);
    const taskId = await client.start('ships');
    const looks = async (): Promise<unknown> => {
      await client.idle();
      clock.now += 2 * lease;
      await client.get(taskId);
      await client.idle();
      return (await client.get(taskId))['status'];
    };
    expect(await looks()).toBe(ends ? 'completed' : 'input_required');
    if (!ends) await client.update(taskId, { target: accepted('prod') });
    await looks();
    expect(await looks()).toBe('completed');
    expect(calls).toBeGreaterThanOrEqual(nth);
    expect(log.includes('refund')).toBe(ends);
    expect(new Set(log).size).toBe(ends ? 3 : 2);
    expect(log.filter((what) => what === 'ship')).toHaveLength(1);
  });
});
