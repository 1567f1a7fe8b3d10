import {
  elicit,
  memoryStore,
  promptSaga,
  resourceSaga,
  saga,
  step,
  type Saga,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, suspended, type TestHost } from '../fixtures/host.ts';
import { Target } from '../fixtures/task-sagas.ts';
import { hostForAll, send, ways, type Way } from '../fixtures/ways.ts';
import { coreOf } from '../../src/saga-host.ts';

const user = 'ada';
const answers = { target: { action: 'accept', content: { target: 'here' } } };

type Saga1 = Saga<z.ZodObject, undefined>;

/** A saga of these steps, which asks before the last of them. */
function deploys(
  ran: string[],
  version: string,
  steps: readonly string[],
  more: object = {},
): Saga1 {
  const input = z.object({ service: z.string().optional() });
  const options = {
    name: 'deploys',
    version,
    input,
    task: 'prefer',
    ...more,
  } as const;
  return saga(options, function* () {
    const [last = '', ...before] = steps.toReversed();
    for (const id of before.toReversed())
      yield* step(id, () => void ran.push(id), { compensate: () => void ran.push(`undo ${id}`) });
    const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
    yield* step(last, () => void ran.push(`${last} ${target}`));
    return `Deployed to ${target}`;
  });
}

interface Fleet {
  readonly old: TestHost;
  readonly next: TestHost;
  readonly ran: string[];
  readonly settled: unknown[];
}

/** Two processes that share key, guard, and store of tasks, and serve two releases of a saga. */
function fleetOf(change: 'version' | 'code', more: object = {}): Fleet {
  const clock = testClock();
  const shared: Partial<SagaHostOptions> & { clock: typeof clock } = {
    clock,
    store: memoryStore({ clock }),
    anonymous: { tasks: 'accept' },
    starts: { unkeyed: 'run' },
  };
  const ran: string[] = [];
  const settled: unknown[] = [];
  const hostWith = (served: Saga1): TestHost => {
    const host = hostForAll([served], shared);
    vi.spyOn(coreOf(host.host).observer.hooks, 'onSettled').mockImplementation(
      (told) => void settled.push(told),
    );
    return host;
  };
  const next = change === 'version' ? '2' : '1';
  return {
    old: hostWith(deploys(ran, '1', ['build', 'deploy'], more)),
    next: hostWith(deploys(ran, next, ['compile', 'deploy'], more)),
    ran,
    settled,
  };
}

const changes = [
  ['version', 'version_gone'],
  ['code', 'replay_mismatch'],
] as const;

const request = (way: Way, host: TestHost, token: string) =>
  way.goOn(host, token, answers, { user });

// A task is answered at once, and runs behind that.
describe.each(ways.filter(({ name }) => name !== 'tasks'))('by $name', (way) => {
  test.each(changes)(
    '[E10] another %s in a process is a retryable error, not a result',
    async (change, reason) => {
      const { old, next, ran, settled } = fleetOf(change);
      const token = await way.begin(old, {}, user);
      for (let tries = 0; tries < 2; tries += 1) {
        const { last } = await request(way, next, token);
        expect(last).not.toHaveProperty('result');
        expect(last.error).toMatchObject({ code: -32_603, data: { reason } });
      }
      expect(next.told.turns).toEqual([]);
      expect(next.told.errors).toMatchObject([{ code: reason }, { code: reason }]);
      expect(settled).toEqual([]);
      expect(ran).toEqual(['build']);
      // Other answers than those the other process was sent are not refused: nothing was used up.
      const { last } = await way.goOn(old, token, { target: { ...answers.target } }, { user });
      // A resumable request carries no answers, and the error asks for them.
      if (way.name === 'resumable requests')
        expect(last.error?.data).toMatchObject({ reason: 'input_required' });
      else expect(ran).toEqual(['build', 'deploy here']);
    },
  );

  test('[E10] a token of a version that never returns expires, and is refused', async () => {
    const { old, next } = fleetOf('version');
    const token = await way.begin(old, {}, user);
    expect((await request(way, next, token)).last.error).toMatchObject({ code: -32_603 });
    next.clock.now += 3_630_000;
    expect((await request(way, next, token)).last.error).toEqual(way.refused);
  });

  test('[E10] a removed version with `compensate` is undone, and its result is final', async () => {
    const { old, next, settled } = fleetOf('version', { onMismatch: 'compensate' });
    const token = await way.begin(old, {}, user);
    expect((await request(way, next, token)).last.result).toMatchObject({ isError: true });
    expect(settled).toHaveLength(1);
    expect((await request(way, old, token)).last.result).toMatchObject({ isError: true });
    expect(settled.length).toBeGreaterThan(0);
  });
});

test.each(['prompts/get', 'resources/read'] as const)(
  '[E10] %s in a process of another version is a retryable error, and its state stays valid',
  async (method) => {
    const clock = testClock();
    const make = (version: string) =>
      method === 'prompts/get'
        ? promptSaga({ name: 'asks', version }, function* () {
            const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
            return target;
          })
        : resourceSaga({ name: 'asks', version, uriTemplate: 'asks://{id}' }, function* () {
            const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
            return target;
          });
    const [old, next] = [hostForAll([make('1')], { clock }), hostForAll([make('2')], { clock })];
    const by = method === 'prompts/get' ? { name: 'asks' } : { uri: 'asks://1' };
    const options = { user, capabilities: { elicitation: {} } };
    const first = await send(old, method, by, options);
    const again = {
      ...by,
      requestState: first.last.result?.['requestState'],
      inputResponses: answers,
    };
    expect((await send(next, method, again, options)).last.error).toMatchObject({
      code: -32_603,
      data: { reason: 'version_gone' },
    });
    expect((await send(old, method, again, options)).last.result).toMatchObject({
      resultType: 'complete',
    });
  },
);

describe('a task', () => {
  const forms = { elicitation: {} };
  const get = async (host: TestHost, taskId: string): Promise<Record<string, unknown>> => {
    const capabilities = { ...forms, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const { last } = await send(host, 'tasks/get', { taskId }, { user, capabilities });
    return last.result ?? {};
  };
  const way = ways.find(({ name }) => name === 'tasks') as Way;

  test.each(changes)(
    '[E10] stays open in a process of another %s, and completes in a process of its own',
    async (change, reason) => {
      const { old, next, ran, settled } = fleetOf(change);
      const taskId = await way.begin(old, {}, user);
      await request(way, next, taskId);
      expect(await get(next, taskId)).toMatchObject({ status: 'working' });
      expect(await get(next, taskId)).toMatchObject({ status: 'working' });
      expect(next.told.errors[0]).toMatchObject({ code: reason });
      expect([ran, settled]).toEqual([['build'], []]);
      // It is tried again at once: no lease has to run out.
      await get(old, taskId);
      expect(await get(old, taskId)).toMatchObject({ status: 'completed' });
      expect(ran).toEqual(['build', 'deploy here']);
    },
  );

  test('[E10] stays open if cancelled in a process of another version, and is undone in its own', async () => {
    const { old, next, ran } = fleetOf('version');
    const taskId = await way.begin(old, {}, user);
    const capabilities = { ...forms, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    await send(next, 'tasks/cancel', { taskId }, { user, capabilities });
    expect(await get(next, taskId)).toMatchObject({ status: 'working' });
    expect(ran).toEqual(['build']);
    await get(old, taskId);
    expect(await get(old, taskId)).toMatchObject({ status: 'cancelled' });
    expect(ran).toEqual(['build', 'undo build']);
  });
});

describe('a client that cancels', () => {
  test('[E10] gets a retryable error if the version is not served, and an undo if it is', async () => {
    const { old, next, ran, settled } = fleetOf('version');
    const caller = { user: { clientId: user } };
    const { token } = suspended(await old.host.start('deploys', {}, { caller }));
    await expect(next.host.cancel(token, { caller })).rejects.toMatchObject({
      code: 'version_gone',
    });
    expect([ran, settled]).toEqual([['build'], []]);
    expect(await old.host.cancel(token, { caller })).toMatchObject({
      compensated: [{ stepId: 'build' }],
    });
  });
});

test('[E10] a status request for a saga whose version is not served does not report a failure', async () => {
  const way = ways.find(({ name }) => name === 'resumable requests') as Way;
  for (const [onMismatch, status] of [
    ['fail', 'processing'],
    ['compensate', 'failed'],
  ] as const) {
    const { old, next } = fleetOf('version', { onMismatch });
    const resumeToken = await way.begin(old, {}, user);
    const { last } = await send(
      next,
      'requests/getStatus',
      { requestId: 1, resumeToken },
      { user },
    );
    expect(last.result).toMatchObject({ status, hasInputRequest: true });
  }
});

test('[E10] a mismatch under `compensate` with nothing to undo is final', async () => {
  const clock = testClock();
  const options = { clock, store: memoryStore({ clock }) };
  const asks = (message: string) =>
    saga({ name: 'asks', version: '1', onMismatch: 'compensate' }, function* () {
      yield* elicit('one', { message, schema: z.object({}) });
      yield* elicit('two', { message: 'Two?', schema: z.object({}) });
      return 'asked';
    });
  const old = hostOf(asks('One?'), options).host;
  const one = suspended(await old.start('asks', {}));
  const accepts = (stepId: string) =>
    [{ stepId, result: { action: 'accept', content: {} } }] as const;
  const two = suspended(await old.resume(one.token, accepts('one')));
  const turn = await hostOf(asks('Other?'), options).host.resume(two.token, accepts('two'));
  expect(turn).toMatchObject({ status: 'failed', error: { code: 'replay_mismatch' } });
  // The token was used up by that.
  await expect(old.resume(two.token, [])).rejects.toMatchObject({ reason: 'used' });
});

test('[E10] the log names the saga and the cause, once for each request', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const clock = testClock();
  const asking = (version: string, id: string) =>
    saga({ name: 'order', version }, function* () {
      yield* step(id, () => id);
      yield* elicit('go', { message: 'Go?', schema: z.object({}) });
      return 'asked';
    });
  const { token } = suspended(await hostOf(asking('1', 'one'), { clock }).host.start('order', {}));
  for (const other of [asking('2', 'one'), asking('1', 'two')]) {
    const { host } = hostOf(other, { clock, hooks: {} });
    await expect(host.resume(token)).rejects.toThrow();
  }
  expect(error.mock.calls).toEqual([
    [expect.stringMatching(/'order'.*does not serve version '1' of 'order'/)],
    [expect.stringMatching(/'order' \(version '1'\) cannot continue after turn 1/)],
  ]);
  vi.restoreAllMocks();
});
