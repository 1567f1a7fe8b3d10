import {
  compensate,
  continueAs,
  elicit,
  memoryTaskStore,
  saga,
  sleep,
  step,
  type Program,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { Target } from '../fixtures/task-sagas.ts';

function tasked(sagas: readonly Program[], options: Parameters<typeof hostOf>[1] = {}): TestHost {
  const clock = testClock();
  return hostOf(sagas, { clock, tasks: { bearer: 'accept', store: memoryTaskStore(clock) }, ...options });
}

test('[E3] a task that has gone on as another saga is undone as that one', async () => {
  const did: string[] = [];
  const ships = saga({ name: 'ships', version: '1', forks: 'accept' }, function* () {
    yield* step('ship', () => void did.push('shipped'), { compensate: () => void did.push('recalled') });
    yield* sleep(600_000);
    return 'shipped';
  });
  const begins = saga({ name: 'begins', version: '1', task: 'prefer' }, function* () {
    yield* step('begin', () => void did.push('begun'));
    return yield* continueAs(ships, {});
  });
  const client = taskClient(tasked([begins, ships]).host);
  const taskId = await client.start('begins');
  await client.idle();
  await client.cancel(taskId);
  await client.idle();
  expect(did).toEqual(['begun', 'shipped', 'recalled']);
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
});

test('[T11] a call whose state is too large for a task is undone at once', async () => {
  const did: string[] = [];
  const large = saga({ name: 'large', version: '1', task: 'prefer', forks: 'accept' }, function* () {
    yield* compensate(() => void did.push('undone'));
    const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
    yield* step('go', () => void did.push('gone'));
    return target;
  });
  const client = taskClient(tasked([large], { limits: { maxTokenBytes: 2_500 } }).host);
  const { requestState } = await client.call('large');
  // Nothing that compresses.
  const target = Array.from({ length: 500 }, (_, index) => (index * 2_654_435_761).toString(36)).join('');
  const inputResponses = { target: { action: 'accept', content: { target } } };
  expect(await client.call('large', {}, { requestState, inputResponses })).toMatchObject({ isError: true });
  expect(did).toEqual(['undone']);
});
