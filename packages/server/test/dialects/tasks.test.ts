import { elicit, memoryStore, race, saga, sleep, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { hostOf, keyOf, type TestHost } from '../fixtures/host.ts';
import { ask } from '../fixtures/raw.ts';
import { knowsTasks, taskClient, tasksKey } from '../fixtures/task-client.ts';
import {
  asksInTask,
  asksTwo,
  breaks,
  fails,
  releases,
  Target,
  tells,
  waits,
  type Runs,
} from '../fixtures/task-sagas.ts';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serverV2 } from '../fixtures/connections.ts';
import { start, testClock } from '../fixtures/clock.ts';

const offered = () =>
  ({ anonymous: { tasks: 'accept' }, store: memoryStore({ clock: () => start }) }) as const;
const accepted = (target: unknown) => ({ action: 'accept', content: { target } });
const unknown = {
  code: -32602,
  message: 'Unknown or expired task',
  data: { reason: 'invalid_task_id' },
};
const iso = (ms: number) => new Date(ms).toISOString();

function offering(...sagas: Parameters<typeof hostOf>[0][]): TestHost {
  return hostOf(sagas.flat(), { ...offered(), limits: { maxHold: 0 } });
}

describe('a call', () => {
  test('[W1] [W2] returns a task at once, and its steps run after the response', async () => {
    const runs: Runs = [];
    const client = taskClient(offering(asksInTask(runs)).host);
    const created = await client.call('asks');
    expect(created).toEqual({
      resultType: 'task',
      taskId: expect.any(String) as string,
      status: 'working',
      createdAt: iso(start),
      lastUpdatedAt: iso(start),
      ttlMs: 7 * 24 * 60 * 60 * 1000,
      pollIntervalMs: 250,
    });
    await client.idle();
    const { taskId } = created as { taskId: string };
    expect(await client.get(taskId)).toEqual({
      resultType: 'complete',
      taskId,
      status: 'input_required',
      createdAt: iso(start),
      lastUpdatedAt: iso(start),
      ttlMs: 7 * 24 * 60 * 60 * 1000,
      pollIntervalMs: 250,
      inputRequests: {
        target: {
          method: 'elicitation/create',
          params: expect.objectContaining({ message: 'Where?' }) as object,
        },
      },
    });
    expect(await client.update(taskId, { target: accepted('prod') })).toEqual({
      resultType: 'complete',
    });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'Deployed to prod' }] },
    });
    expect(runs).toHaveLength(2);
  });

  test('[W1] asks the first questions in rounds, and then becomes a task', async () => {
    const first = saga({ name: 'first', version: '1', task: 'require' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return yield* step('go', () => `Went to ${target}`);
    });
    const client = taskClient(offering(first).host);
    const round = await client.call('first');
    expect(round).toMatchObject({ resultType: 'input_required', inputRequests: { target: {} } });
    expect(round).not.toHaveProperty('taskId');
    const answer = {
      requestState: round['requestState'],
      inputResponses: { target: accepted('prod') },
    };
    const created = await client.call('first', {}, answer);
    expect(created).toMatchObject({ resultType: 'task' });
    expect(created).not.toHaveProperty('requestState');
    await client.idle();
    // The response was dropped. The same round is the same task, and another round is not a task.
    const again = await client.call('first', {}, answer);
    expect(await client.get(String(again['taskId']))).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: 'Went to prod' }] },
    });
    const other = { ...answer, inputResponses: { target: accepted('test') } };
    await expect(client.call('first', {}, other)).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'invalid_request_state' },
    });
  });

  test('is not a task if the client does not support tasks', async () => {
    const quick = saga({ name: 'quick', version: '1', task: 'prefer' }, function* () {
      return yield* step('go', () => 'Went');
    });
    const client = taskClient(offering(quick).host, { capabilities: { elicitation: {} } });
    expect(await client.call('quick')).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'Went' }],
    });
  });

  test('is not a task if its saga does not declare `task` and nothing takes long', async () => {
    const quick = saga({ name: 'quick', version: '1' }, function* () {
      return yield* step('go', () => 'Went');
    });
    const client = taskClient(offering(quick).host);
    expect(await client.call('quick')).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'Went' }],
    });
  });

  test('[W3] of a saga that requires tasks is rejected before anything runs without client support', async () => {
    const { host } = offering(waits('require'));
    const client = taskClient(host, { capabilities: { elicitation: {} } });
    const { last, status } = await client.send(
      'tools/call',
      { name: 'waits', arguments: {} },
      'waits',
    );
    expect(last.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [tasksKey]: {} } } },
    });
    expect(status).toBe(400);
    const legacy = await ask(
      createMcpHandler(() => serverV2(host)),
      'legacy',
      'tools/call',
      {
        name: 'waits',
        arguments: {},
      },
    );
    expect(legacy.last.result).toMatchObject({ isError: true });
    // Nor does it help to bring what belongs to another dialect.
    const params = {
      name: 'waits',
      arguments: { answers: {}, resumeToken: 'x' },
      requestState: 'x',
    };
    const other = await client.send('tools/call', params, 'waits');
    expect(other.last.error).toMatchObject({ code: -32021 });
  });

  test('asks questions beside a running step in the task', async () => {
    const both = saga({ name: 'both', version: '1', task: 'prefer' }, function* () {
      const { winner } = yield* race({
        asked: elicit('target', { message: 'Where?', schema: Target }),
        found: step('find', () => 'here'),
      });
      return `${winner} it`;
    });
    const client = taskClient(offering(both).host);
    const created = await client.call('both');
    expect(created).toMatchObject({ resultType: 'task', status: 'input_required' });
    expect(created).not.toHaveProperty('inputRequests');
    await client.idle();
    expect(await client.get(String(created['taskId']))).toMatchObject({
      result: { content: [{ text: 'found it' }] },
    });
  });

  test('[W6] becomes a task if it waits longer than the rounds of its client', async () => {
    const long = saga({ name: 'long', version: '1' }, function* () {
      yield* sleep(86_400_000);
      return yield* step('go', () => 'Went');
    });
    const { host, clock } = offering(long);
    const client = taskClient(host);
    const taskId = await client.start('long');
    await client.idle();
    clock.now += 86_400_000 - 1;
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    await client.idle();
  });
});

describe('a task', () => {
  test('[W7] is read without running anything for the response', async () => {
    const runs: Runs = [];
    const order: string[] = [];
    const waiting = saga({ name: 'waiting', version: '1', task: 'prefer' }, function* () {
      yield* sleep(60_000);
      yield* step('run', () => void (runs.push('run'), order.push('run')));
      return 'ran';
    });
    const { host, clock } = offering(waiting);
    const client = taskClient(host);
    const taskId = await client.start('waiting');
    await client.idle();
    clock.now += 60_000;
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    order.push('answered');
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      lastUpdatedAt: iso(clock.now),
    });
    expect(runs).toEqual(['run']);
  });

  test('accepts answers one by one, and shows only open questions', async () => {
    const client = taskClient(offering(asksTwo()).host);
    const taskId = await client.start('two');
    await client.idle();
    const { inputRequests } = await client.get(taskId);
    expect(Object.keys(inputRequests as object)).toEqual(['target', 'target#2']);
    await client.update(taskId, { target: accepted('a') });
    const partly = await client.get(taskId);
    expect(partly).toMatchObject({ status: 'input_required' });
    expect(Object.keys(partly['inputRequests'] as object)).toEqual(['target#2']);
    await client.idle();
    expect(Object.keys((await client.get(taskId))['inputRequests'] as object)).toEqual([
      'target#2',
    ]);
    await client.update(taskId, { 'target#2': accepted('b') });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ result: { content: [{ text: 'a and b' }] } });
  });

  test('accepts two concurrent answers, each once', async () => {
    const { host, told } = offering(asksTwo());
    const client = taskClient(host);
    const taskId = await client.start('two');
    await client.idle();
    await Promise.all([
      client.update(taskId, { target: accepted('a') }),
      client.update(taskId, { 'target#2': accepted('b') }),
      client.update(taskId, { 'target#2': accepted('c') }),
    ]);
    await client.idle();
    const { result } = await client.get(taskId);
    expect(result).toMatchObject({
      content: [{ text: expect.stringMatching(/^a and [bc]$/) as string }],
    });
    expect(told.ignored).toEqual([{ stepId: 'target#2', why: 'unknown' }]);
  });

  test('[W4] asks again under a new key, and ignores unknown keys', async () => {
    const { host, told } = offering(asksInTask());
    const client = taskClient(host);
    const taskId = await client.start('asks');
    await client.idle();
    expect(await client.update(taskId, { nothing: accepted('a') })).toEqual({
      resultType: 'complete',
    });
    await client.update(taskId, { target: { action: 'accept', content: { target: 7 } } });
    await client.idle();
    expect(Object.keys((await client.get(taskId))['inputRequests'] as object)).toEqual([
      'target~2',
    ]);
    await client.update(taskId, { target: accepted('late') });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    await client.update(taskId, { 'target~2': accepted('prod') });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      result: { content: [{ text: 'Deployed to prod' }] },
    });
    expect(told.ignored).toEqual([
      { stepId: 'nothing', why: 'unknown' },
      { stepId: 'target', why: 'invalid' },
      { stepId: 'target', why: 'unknown' },
    ]);
  });

  test('requires answers in an update, and ignores answers of an invalid form', async () => {
    const client = taskClient(offering(asksInTask()).host);
    const taskId = await client.start('asks');
    await client.idle();
    const { last } = await client.send('tasks/update', { taskId }, taskId);
    expect(last.error).toMatchObject({ code: -32602, data: { reason: 'invalid_params' } });
    for (const none of [null, 7, [], 'text', { target: 7 }]) {
      expect(await client.update(taskId, none as unknown as object)).toEqual({
        resultType: 'complete',
      });
    }
    await client.idle();
    expect(Object.keys((await client.get(taskId))['inputRequests'] as object)).toEqual(['target']);
  });

  test('[E3] is cancelled, and its steps are undone', async () => {
    const log: string[] = [];
    const client = taskClient(offering(releases(log)).host);
    const taskId = await client.start('releases');
    await client.idle();
    expect(await client.cancel(taskId)).toEqual({ resultType: 'complete' });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringContaining("Undone: 'release'") as string,
    });
    expect(log).toEqual(['released', 'rolled back']);
    expect(await client.cancel(taskId)).toEqual({ resultType: 'complete' });
    expect(await client.update(taskId, { target: accepted('a') })).toEqual({
      resultType: 'complete',
    });
  });

  test('is cancelled behind the response if there is nothing to undo', async () => {
    const client = taskClient(offering(asksInTask()).host);
    const taskId = await client.start('asks');
    await client.idle();
    await client.cancel(taskId);
    await client.idle();
    const cancelled = await client.get(taskId);
    expect(cancelled).toMatchObject({ status: 'cancelled' });
    expect(cancelled).not.toHaveProperty('inputRequests');
  });

  test('completes if the tool fails, and fails if the server fails', async () => {
    const client = taskClient(offering(fails(), breaks()).host);
    const [failing, breaking] = [await client.start('fails'), await client.start('breaks')];
    await client.idle();
    expect(await client.get(failing)).toMatchObject({
      status: 'completed',
      result: { isError: true, resultType: 'complete' },
    });
    const failed = await client.get(breaking);
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: "'breaks' failed." },
    });
    expect(failed).not.toHaveProperty('result');
  });

  test('[W5] sends its progress with the token of the call, each value once', async () => {
    const client = taskClient(offering(tells()).host);
    const { taskId } = (await client.call('tells', {}, { _meta: { progressToken: 'p' } })) as {
      taskId: string;
    };
    await client.idle();
    const told = async (): Promise<readonly unknown[]> => {
      const { messages } = await client.send('tasks/get', { taskId }, taskId);
      return messages.flatMap(({ method, params }) =>
        method === 'notifications/progress'
          ? [{ token: params?.['progressToken'], at: params?.['progress'] }]
          : [],
      );
    };
    expect(await client.get(taskId)).toMatchObject({ statusMessage: 'Half way' });
    expect(await told()).toEqual([]);
    await client.update(taskId, { target: accepted('a') });
    await client.idle();
    expect(await told()).toEqual([{ token: 'p', at: 2 }]);
    expect(await told()).toEqual([]);
  });
});

describe('the ID of a task', () => {
  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    '[T14] is refused by %s for any caller who did not create the task',
    async (method) => {
      const { host, told } = hostOf(asksInTask(), {
        store: memoryStore({ clock: () => start }),
        anonymous: { calls: 'accept' },
        auth: { principal: 'client-only' },
      });
      const mine = taskClient(host, { clientId: 'mine' });
      const taskId = await mine.start('asks');
      await mine.idle();
      const params = { taskId, inputResponses: {} };
      for (const client of [taskClient(host, { clientId: 'theirs' }), taskClient(host)]) {
        expect((await client.send(method, params, taskId)).last.error).toEqual(unknown);
      }
      expect(told.rejections.map(({ reason }) => reason)).toEqual(['principal', 'principal']);
      expect((await mine.send(method, params, taskId)).last.error).toBeUndefined();
    },
  );

  test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
    'is required by %s, which refuses unknown IDs and clients without task support',
    async (method) => {
      const { host } = offering(asksInTask());
      const client = taskClient(host);
      const foreign = hostOf(asksInTask(), { keys: keyOf('old', 0x33), ...offered() });
      const other = taskClient(foreign.host);
      for (const taskId of ['no such task', '', 'a'.repeat(4097), await other.start('asks')]) {
        const params = { taskId, inputResponses: {} };
        expect((await client.send(method, params, taskId)).last.error).toEqual(unknown);
      }
      await other.idle();
      const undeclared = taskClient(host, { capabilities: { elicitation: {} } });
      const { last } = await undeclared.send(method, { taskId: 'x', inputResponses: {} }, 'x');
      expect(last.error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [tasksKey]: {} } } },
      });
    },
  );

  test('[T3] opens only tasks, and a task opens no token of another purpose', async () => {
    const { host } = offering(asksInTask());
    const client = taskClient(host);
    const taskId = await client.start('asks');
    await client.idle();
    const refused = { reason: 'malformed' };
    await expect(host.resume(taskId)).rejects.toMatchObject(refused);
    await expect(host.cancel(taskId)).rejects.toMatchObject(refused);
    await expect(host.inspect(taskId)).rejects.toMatchObject(refused);
    const again = client.call('asks', {}, { requestState: taskId });
    await expect(again).rejects.toMatchObject({ data: { reason: 'invalid_request_state' } });
    const turn = await host.start('asks', {});
    const token = turn.status === 'suspended' ? turn.token : '';
    expect((await client.send('tasks/get', { taskId: token }, token)).last.error).toEqual(unknown);
  });

  test('is valid for as long as its saga may live, and then unknown', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const { host } = hostOf(asksInTask(), {
      clock,
      anonymous: { tasks: 'accept' },
      store,
      limits: { maxLifetime: 60_000 },
    });
    const client = taskClient(host);
    const created = await client.call('asks');
    expect(created).toMatchObject({ ttlMs: 60_000 });
    await client.idle();
    const taskId = String(created['taskId']);
    clock.now += 59_999;
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    clock.now += 30_001;
    expect((await client.send('tasks/get', { taskId }, taskId)).last.error).toEqual(unknown);
    clock.now += 60_000;
    await client.call('asks');
    await client.idle();
    expect(await store.read({ group: taskId.slice(0, 22), name: 'task' })).toBeUndefined();
  });
});

describe('tasks', () => {
  const extensionsOf = async ({ host }: TestHost): Promise<object> => {
    const { last } = await taskClient(host).send('server/discover', {});
    const { capabilities } = last.result as {
      readonly capabilities: { readonly extensions: object };
    };
    return capabilities.extensions;
  };

  test('are announced if a saga declares them, there is a store, and callers can be told apart', async () => {
    expect(await extensionsOf(hostOf(waits()))).not.toHaveProperty([tasksKey]);
    const store = memoryStore({ clock: () => start, olderTokens: 'accept' });
    const bare = hostOf(waits('prefer'), { store });
    expect(await extensionsOf(bare)).not.toHaveProperty([tasksKey]);
    expect(bare.told.warnings).toEqual([expect.stringContaining("anonymous: { tasks: 'accept' }")]);
    const accepting = { anonymous: { tasks: 'accept' } } as const;
    const storeless = hostOf(waits('prefer'), accepting);
    expect(await extensionsOf(storeless)).not.toHaveProperty([tasksKey]);
    expect(storeless.told.warnings).toEqual([expect.stringContaining('need a store')]);
    expect(await extensionsOf(hostOf(waits(), { ...accepting, store }))).toHaveProperty([tasksKey]);
    const known = hostOf(waits('prefer'), { store, auth: { principal: 'client-only' } });
    expect(await extensionsOf(known)).toHaveProperty([tasksKey]);
    expect(
      (await taskClient(bare.host).send('tasks/get', { taskId: 'x' }, 'x')).last.error,
    ).toMatchObject({
      code: -32601,
    });
  });

  test('[T14] are created for authenticated users, unless the host sets `bearer`', async () => {
    const { host } = hostOf([waits('require'), asksInTask()], {
      anonymous: { calls: 'accept' },
      auth: { principal: 'client-only' },
      store: memoryStore({ clock: () => start }),
    });
    const nobody = taskClient(host);
    await expect(nobody.call('waits')).rejects.toMatchObject({ code: -32602 });
    expect(await nobody.call('asks')).toMatchObject({ resultType: 'input_required' });
    expect(await taskClient(host, { clientId: 'app' }).call('waits')).toMatchObject({
      resultType: 'task',
    });
  });

  test('are not offered to clients of other eras', async () => {
    const server = createMcpHandler(() => serverV2(offering(asksInTask()).host));
    const params = { taskId: 'x', _meta: { capabilities: knowsTasks } };
    expect((await ask(server, 'legacy', 'tasks/get', params)).last.error).toMatchObject({
      code: -32601,
    });
  });

  test('that are required need a store', () => {
    expect(() => hostOf(waits('require'))).toThrow(
      expect.objectContaining({ code: 'missing_option' }),
    );
  });
});
