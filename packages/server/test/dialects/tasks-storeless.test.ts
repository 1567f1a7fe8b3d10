import { elicit, poll, saga, sleep, step, uuid, type Steps } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { sleepOn, start, testClock } from '../fixtures/clock.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { Target, waits } from '../fixtures/task-sagas.ts';

const minute = 60_000;
const offered = {
  anonymous: { tasks: 'accept' },
  tasks: { maxIdLength: 4_096 },
} as const;

function storeless(...sagas: Parameters<typeof hostOf>[0][]): TestHost {
  const clock = testClock();
  return hostOf(sagas.flat(), { ...offered, clock, testing: { sleep: sleepOn(clock) } });
}

describe('without a store', () => {
  test('[W7] a waiting task is contained in its ID, and has the same end on any process', async () => {
    const asking = saga({ name: 'asking', version: '1', task: 'require' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* step('go', () => 1);
      const before = yield* uuid();
      yield* sleep(10 * minute);
      yield* sleep(10 * minute);
      const id = yield* uuid();
      return `${target} ${before} ${id}`;
    });
    const { host, clock } = storeless(asking);
    const client = taskClient(host);
    const round = await client.call('asking');
    const created = await client.call(
      'asking',
      {},
      {
        requestState: round['requestState'],
        inputResponses: { target: { action: 'accept', content: { target: 'prod' } } },
      },
    );
    expect(created).toMatchObject({
      resultType: 'task',
      status: 'working',
      pollIntervalMs: 30_000,
    });
    const taskId = String(created['taskId']);
    const other = taskClient(hostOf(asking, { clock, ...offered }).host);
    clock.now += 20 * minute - 1;
    expect(await other.get(taskId)).toMatchObject({ status: 'working', pollIntervalMs: 1_000 });
    clock.now += 1;
    const done = await other.get(taskId);
    expect(done).toMatchObject({
      status: 'completed',
      lastUpdatedAt: new Date(start + 20 * minute).toISOString(),
      result: { content: [{ text: expect.stringMatching(/^prod /) as string }] },
    });
    clock.now += minute;
    expect(await client.get(taskId)).toEqual(done);
  });

  test('a waiting task ignores answers and cancellations, as MCP allows', async () => {
    const { host, told } = storeless(waits('prefer'));
    const client = taskClient(host);
    const taskId = await client.start('waits');
    expect(await client.update(taskId, { target: { action: 'decline' } })).toEqual({
      resultType: 'complete',
    });
    expect(await client.cancel(taskId)).toEqual({ resultType: 'complete' });
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    expect(told.ignored).toEqual([{ stepId: 'target', why: 'unknown' }]);
  });

  test('[W6] a saga that only waits is a task without a task option', async () => {
    const { host, clock } = hostOf(waits(), offered);
    const client = taskClient(host);
    const taskId = await client.start('waits');
    clock.now += 20 * minute;
    expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
  });

  const runs: string[] = [];
  const run = (id: string) => step(id, () => void runs.push(id));
  test.each([
    [
      'runs a step',
      function* (): Steps<string> {
        yield* sleep(minute);
        yield* run('step');
        return 'ran';
      },
    ],
    [
      'polls',
      function* (): Steps<string> {
        yield* sleep(minute);
        yield* poll('poll', () => void runs.push('poll'), {
          every: minute,
          timeout: 10 * minute,
        });
        return 'polled';
      },
    ],
    [
      'asks',
      function* (): Steps<string> {
        yield* sleep(minute);
        yield* elicit('target', { message: 'Where?', schema: Target });
        return 'asked';
      },
    ],
    [
      'waits two hundred times',
      function* (): Steps<string> {
        for (let index = 0; index < 200; index += 1) yield* sleep(minute);
        return 'waited';
      },
    ],
  ] as const)(
    'a saga that %s after a wait is not a task, and nothing runs to detect it',
    async (_, body) => {
      runs.length = 0;
      const more = saga({ name: 'more', version: '1', task: 'prefer' }, body);
      const { host, told } = storeless(more);
      const client = taskClient(host);
      expect(await client.call('more')).toMatchObject({ resultType: 'input_required' });
      expect(runs).toEqual([]);
      expect(told.warnings).toEqual([expect.stringContaining('tasks: { store }')]);
      expect(await client.call('more')).toMatchObject({ resultType: 'input_required' });
      expect(told.warnings).toHaveLength(1);
    },
  );

  test('a saga with compensation after a wait is not a task', async () => {
    const log: string[] = [];
    const undoes = saga(
      { name: 'undoes', version: '1', task: 'prefer', reuse: 'ok' },
      function* () {
        yield* step('do', () => void log.push('done'), {
          compensate: () => void log.push('undone'),
        });
        yield* sleep(minute);
        throw new Error('and fails');
      },
    );
    const client = taskClient(storeless(undoes).host);
    expect(await client.call('undoes')).toMatchObject({ resultType: 'input_required' });
    expect(log).toEqual([]);
  });

  test('a waiting task fails if its changed code runs a step, and the author is warned', async () => {
    const { host, clock } = storeless(waits('prefer'));
    const taskId = await taskClient(host).start('waits');
    const changed = saga({ name: 'waits', version: '1', task: 'prefer' }, function* () {
      yield* sleep(600_000);
      return yield* step('go', () => 'Went');
    });
    const later = hostOf(changed, { clock, anonymous: { tasks: 'accept' } });
    clock.now += 600_000;
    expect(await taskClient(later.host).get(taskId)).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: "'waits' cannot continue." },
    });
    expect(later.told.warnings).toEqual([expect.stringContaining('without a store')]);
  });

  // Texts that do not compress; the id is padded in steps of 64 bytes.
  const sized = (bytes: number) =>
    saga({ name: 'sized', version: '1', task: 'prefer' }, function* () {
      yield* step('fill', () => 'x'.repeat(bytes));
      yield* sleep(10 * minute);
      return 'waited';
    });

  test('an ID of up to 4,096 characters is returned, and a longer one is not', async () => {
    const lengths: number[] = [];
    let isTask = true;
    for (let bytes = 2_000; isTask; bytes += 16) {
      const answer = await taskClient(storeless(sized(bytes)).host).call('sized');
      isTask = answer['resultType'] === 'task';
      if (isTask) lengths.push(String(answer['taskId']).length);
      else expect(answer).toMatchObject({ nextResumeToken: expect.any(String) as string });
    }
    // The next possible size is over the limit.
    const longest = Math.max(...lengths);
    expect(longest).toBeLessThanOrEqual(4_096);
    expect(longest + Math.ceil((64 * 4) / 3)).toBeGreaterThan(4_096);
  });
});
