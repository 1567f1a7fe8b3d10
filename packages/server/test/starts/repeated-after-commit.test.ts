import { elicit, memoryStore, saga, sleep, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testClock, sleepOn } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { hostForAll } from '../fixtures/ways.ts';
import { keyField } from './shop.ts';

const Size = z.object({ size: z.string() });
const named = { _meta: { [keyField]: 'call-1' } };
const wait = 600_000;

test.each([
  ['a first call with a key', 'ends well'],
  ['a round', 'ends well'],
  ['a first call with a key', 'fails, so the next step is behind a commit'],
  ['a round', 'fails, so the next step is behind a commit'],
])('%s whose first step %s is its task while a step of the task runs', async (what, how) => {
  const isRound = what === 'a round';
  const clock = testClock();
  const running = deferred<void>();
  const end = deferred<void>();
  const order = saga({ name: 'order', version: '1' }, function* () {
    if (isRound) yield* elicit('go', { message: 'go?', schema: Size });
    try {
      yield* step('try', () => {
        if (how !== 'ends well') throw new Error('down');
      });
    } catch {
      // A branch by chance, which the next effect commits.
    }
    yield* step('pack', () => 'packed');
    yield* sleep(wait);
    yield* step('ship', () => (running.resolve(), end.promise));
    return 'done';
  });
  const { host } = hostForAll([order], {
    clock,
    store: memoryStore({ clock }),
    testing: { sleep: sleepOn(clock) },
  });
  const client = taskClient(host, { clientId: 'ada' });
  const { requestState } = isRound ? await client.call('order') : {};
  const params = isRound
    ? { requestState, inputResponses: { go: { action: 'accept', content: { size: 'S' } } } }
    : named;
  const first = await client.call('order', {}, params);
  expect(first).toMatchObject({ resultType: 'task' });
  const { taskId } = first;
  await client.idle();
  expect(await client.call('order', {}, params)).toMatchObject({ taskId });
  clock.now += wait;
  await client.get(String(taskId));
  await running.promise;
  expect(await client.call('order', {}, params)).toMatchObject({ taskId, status: 'working' });
  end.resolve();
  await client.idle();
  expect(await client.get(String(taskId))).toMatchObject({ status: 'completed' });
});
