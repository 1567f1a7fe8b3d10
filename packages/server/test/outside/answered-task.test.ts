import { approval, memoryStore, saga, step, waitFor } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { base, user } from './case.ts';

const minute = 60_000;

/** A task that waits for other people, or for another system, and its client. */
function waiting(by: 'approval' | 'event') {
  const urls: string[] = [];
  const paid: string[] = [];
  const order = saga({ name: 'order', version: '1', task: 'prefer' }, function* () {
    if (by === 'approval') {
      yield* approval('manager', {
        message: 'Pay?',
        timeout: '2d',
        deliver: ({ url }) => void urls.push(url),
      });
    } else {
      yield* waitFor('payment', {
        schema: z.object({ ok: z.boolean() }),
        link: 'accept',
        timeout: '2d',
        register: ({ url }) => void urls.push(url),
      });
    }
    yield* step('pay', () => void paid.push('paid'));
    return 'done';
  });
  const clock = testClock();
  const { host } = hostOf(order, {
    clock,
    store: memoryStore({ clock }),
    url: base,
    anonymous: { tasks: 'accept' },
    limits: { maxHold: 0 },
  });
  return { host, client: taskClient(host), clock, urls, paid };
}

it.each(['approval', 'event'] as const)(
  'a task is driven by the next look of its client behind an answer: %s',
  async (by) => {
    const { host, client, clock, urls, paid } = waiting(by);
    const taskId = await client.start('order');
    await client.idle();
    // Long after the beginning, the task looks for answers every half minute.
    for (let count = 0; count < 20; count += 1) {
      clock.now += minute;
      await client.get(taskId);
      await client.idle();
    }
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    const body =
      by === 'approval'
        ? new URLSearchParams({ decision: 'approve' })
        : JSON.stringify({ ok: true });
    const request = new Request(urls[0] ?? '', {
      method: 'POST',
      body,
      headers: by === 'approval' ? { origin: 'null', 'sec-fetch-site': 'same-origin' } : {},
    });
    expect((await host.answer(request, { caller: user('ann') })).ok).toBe(true);
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
    expect(paid).toEqual(['paid']);
  },
);

it('a task is driven behind an answer that arrives while a turn reads the store', async () => {
  const urls: string[] = [];
  const order = saga({ name: 'order', version: '1', task: 'prefer' }, function* () {
    const { approved } = yield* approval('manager', {
      message: 'Pay?',
      timeout: '2d',
      deliver: ({ url }) => void urls.push(url),
    });
    return String(approved);
  });
  const clock = testClock();
  const kept = memoryStore({ clock });
  const [looked, answered] = [deferred<void>(), deferred<void>()];
  let isSlow = false;
  const store = {
    ...kept,
    list: async (box: string) => {
      const found = await kept.list(box);
      if (isSlow) {
        isSlow = false;
        looked.resolve();
        await answered.promise;
      }
      return found;
    },
  };
  const { host } = hostOf(order, {
    clock,
    store,
    url: base,
    anonymous: { tasks: 'accept' },
    limits: { maxHold: 0 },
  });
  const client = taskClient(host);
  const taskId = await client.start('order');
  await client.idle();
  clock.now += minute;
  isSlow = true;
  await client.get(taskId);
  const working = client.idle();
  await looked.promise;
  const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const body = new URLSearchParams({ decision: 'approve' });
  const request = new Request(urls[0] ?? '', { method: 'POST', body, headers });
  expect((await host.answer(request, { caller: user('ann') })).ok).toBe(true);
  answered.resolve();
  await working;
  await client.get(taskId);
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
});
