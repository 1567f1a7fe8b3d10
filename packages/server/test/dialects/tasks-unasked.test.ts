import { all, elicit, memoryStore, saga, sleep, step, type Program } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { Target } from '../fixtures/task-sagas.ts';
import { taskClient, tasksKey, type TaskClient } from '../fixtures/task-client.ts';

const hour = 3_600_000;

/** A client that knows tasks, and can be asked nothing. */
function unasked(
  sagas: readonly Program[],
  { stores = false }: { readonly stores?: boolean } = {},
): TestHost & { readonly client: TaskClient } {
  const clock = testClock();
  const made = hostOf(sagas, {
    clock,
    answerers: { model: 'accept' },
    anonymous: { tasks: 'accept' },
    ...(stores ? { store: memoryStore({ clock }) } : {}),
    testing: { sleep: async (ms) => void (clock.now += ms) },
  });
  return {
    ...made,
    client: taskClient(made.host, { capabilities: { extensions: { [tasksKey]: {} } } }),
  };
}

const working = (did: string[], task?: 'prefer'): Program =>
  saga({ name: 'working', version: '1', ...(task === undefined ? {} : { task }) }, function* () {
    yield* sleep(hour);
    yield* step('work', () => void did.push('worked'));
    return 'done';
  });

test('[W2] [W6] a wait on a host without a store continues by resume tokens, as without task support', async () => {
  const did: string[] = [];
  const { client, clock } = unasked([working(did)]);
  const { nextResumeToken: resumeToken } = await client.call('working');
  expect(resumeToken).toEqual(expect.any(String));
  clock.now += hour;
  expect(await client.call('working', { resumeToken })).toMatchObject({
    content: [{ text: 'done' }],
  });
  expect(did).toEqual(['worked']);
});

test('[W2] [W3] a question goes to the calling model if the model may answer', async () => {
  const { client } = unasked([asking()]);
  const { nextResumeToken: resumeToken } = await client.call('asking');
  expect(
    await client.call('asking', { resumeToken, answers: { target: { target: 'prod' } } }),
  ).toMatchObject({
    content: [{ text: 'prod' }],
  });
});

test('[W2] sagas that only wait are tasks, and so are sagas that declare it', async () => {
  const waiting = saga({ name: 'waiting', version: '1' }, function* () {
    yield* sleep(hour);
    return 'waited';
  });
  const did: string[] = [];
  const bare = unasked([waiting], { stores: true });
  const taskId = await bare.client.start('waiting');
  await bare.client.idle();
  bare.clock.now += hour;
  await bare.client.get(taskId);
  await bare.client.idle();
  expect(await bare.client.get(taskId)).toMatchObject({
    result: { content: [{ text: 'waited' }] },
  });

  const kept = unasked([working(did, 'prefer')], { stores: true });
  const keptId = await kept.client.start('working');
  await kept.client.idle();
  kept.clock.now += hour;
  await kept.client.get(keptId);
  await kept.client.idle();
  expect(await kept.client.get(keptId)).toMatchObject({ result: { content: [{ text: 'done' }] } });
  expect(did).toEqual(['worked']);
});

test('[W2] [T14] a task never shows its client a question for the model', async () => {
  const both = saga({ name: 'both', version: '1', task: 'prefer' }, function* () {
    const { asked } = yield* all({
      asked: elicit('target', { message: 'Where?', schema: Target }),
      done: step('work', () => 1),
    });
    return asked.target;
  });
  const { client } = unasked([both], { stores: true });
  const { nextResumeToken: resumeToken, resultType } = await client.call('both');
  expect(resultType).toBe('complete');
  expect(
    await client.call('both', { resumeToken, answers: { target: { target: 'prod' } } }),
  ).toMatchObject({
    content: [{ text: 'prod' }],
  });
});

test('[W2] lists its tools with the arguments to continue a call', async () => {
  const { client } = unasked([asking()]);
  const { last } = await client.send('tools/list', {});
  expect(last.result).toMatchObject({
    tools: [{ name: 'asking', inputSchema: { properties: { resumeToken: {}, answers: {} } } }],
  });
});
