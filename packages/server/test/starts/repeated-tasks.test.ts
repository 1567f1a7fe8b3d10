import {
  elicit,
  generateKey,
  memoryStore,
  saga,
  sleep,
  step,
  type SagaStore,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { taskClient, type TaskClient } from '../fixtures/task-client.ts';
import { hostForAll } from '../fixtures/ways.ts';
import { keyField } from './shop.ts';

const Size = z.object({ size: z.string() });
const asks = (id: string) => elicit(id, { message: `${id}?`, schema: Size });
const answer = (id: string, size: string): object => ({
  [id]: { action: 'accept', content: { size } },
});
const named = { _meta: { [keyField]: 'call-1' } };
const wait = 600_000;

describe.each(['a first call with a key', 'a round'])('%s that has become a task', (what) => {
  const isRound = what === 'a round';

  /** Makes a task of a saga that waits, and repeats the call that has made it. */
  async function waiting(after: () => Steps<string>) {
    const clock = testClock();
    const order = saga({ name: 'order', version: '1' }, function* () {
      if (isRound) yield* asks('go');
      yield* sleep(wait);
      return yield* after();
    });
    const { host } = hostForAll([order], { clock, store: memoryStore({ clock }) });
    const client = taskClient(host, { clientId: 'ada' });
    const { requestState } = isRound ? await client.call('order') : {};
    const params = isRound ? { requestState, inputResponses: answer('go', 'yes') } : named;
    const repeat = () => client.call('order', {}, params);
    const taskId = String((await repeat())['taskId']);
    await client.idle();
    return { client, clock, repeat, taskId };
  }

  test('is the task although its wait is over', async () => {
    const { clock, repeat, taskId } = await waiting(function* () {
      return yield* step('ship', () => 'done');
    });
    expect(await repeat()).toMatchObject({ taskId });
    clock.now += wait;
    expect(await repeat()).toMatchObject({ taskId });
  });

  test.each([0, 2])('is the task while its step runs, behind %i others', async (others) => {
    const running = deferred<void>();
    const end = deferred<void>();
    const definition = { name: 'order', version: '1', task: 'prefer' } as const;
    const order = saga(definition, function* () {
      if (isRound) yield* asks('go');
      for (let at = 0; at < others; at += 1) yield* step(`pack${at}`, () => undefined);
      yield* step('ship', () => (running.resolve(), end.promise));
      return 'done';
    });
    const { host } = hostForAll([order], { store: memoryStore() });
    const client = taskClient(host, { clientId: 'ada' });
    const { requestState } = isRound ? await client.call('order') : {};
    const params = isRound ? { requestState, inputResponses: answer('go', 'yes') } : named;
    const { taskId } = await client.call('order', {}, params);
    await running.promise;
    expect(await client.call('order', {}, params)).toMatchObject({ taskId, status: 'working' });
    end.resolve();
    await client.idle();
    expect(await client.get(String(taskId))).toMatchObject({ status: 'completed' });
  });

  test('does nothing when the task is cancelled', async () => {
    const acted: string[] = [];
    const { client, clock, repeat, taskId } = await waiting(function* () {
      yield* step('mail', () => void acted.push('mail'));
      return 'done';
    });
    await client.cancel(taskId);
    await client.idle();
    clock.now += wait;
    expect(await repeat()).toMatchObject({ taskId, status: 'cancelled' });
    await client.idle();
    expect(acted).toEqual([]);
  });

  test('leaves the answer to the task', async () => {
    const { client, clock, repeat, taskId } = await waiting(function* () {
      return (yield* asks('size')).size;
    });
    clock.now += wait;
    expect(await repeat()).toMatchObject({ taskId });
    await client.get(taskId);
    await client.idle();
    expect(await repeat()).toMatchObject({ taskId });
    expect(await ended(client, taskId, 'L')).toMatchObject({ content: [{ text: 'L' }] });
  });
});

const charges = (acted: string[]) =>
  step('charge', () => void acted.push('charge'), { compensate: () => void acted.push('undo') });

test('a repeated first call with answers leaves the questions of its task open', async () => {
  const acted: string[] = [];
  const definition = { name: 'order', version: '1', task: 'prefer' } as const;
  const order = saga(definition, function* () {
    yield* charges(acted);
    const { size } = yield* asks('size');
    yield* step('ship', () => void acted.push(`ship ${size}`));
    return 'done';
  });
  const { host } = hostForAll([order], { store: memoryStore() });
  const client = taskClient(host, { clientId: 'ada' });
  const call = () => client.call('order', {}, { ...named, inputResponses: answer('size', 'S') });
  const taskId = String((await call())['taskId']);
  await client.idle();
  expect(await call()).toMatchObject({ taskId });
  await client.idle();
  await ended(client, taskId, 'L');
  expect(acted).toEqual(['charge', 'ship L']);
});

test('a first call with a key is the task of a later round, although the saga has `reuse`', async () => {
  const definition = { name: 'order', version: '1', reuse: 'ok', task: 'prefer' } as const;
  const order = saga(definition, function* () {
    yield* asks('go');
    yield* charges([]);
    return (yield* asks('size')).size;
  });
  const { host } = hostForAll([order], { store: memoryStore() });
  const client = taskClient(host, { clientId: 'ada' });
  const { requestState } = await client.call('order', {}, named);
  const round = { requestState, inputResponses: answer('go', 'yes') };
  const taskId = String((await client.call('order', {}, round))['taskId']);
  await client.idle();
  expect(await client.call('order', {}, named)).toMatchObject({ taskId });
});

test('a round is the task that a repeated first call has made of it', async () => {
  const clock = testClock();
  const definition = { name: 'order', version: '1', task: 'prefer' } as const;
  const order = saga(definition, function* () {
    yield* asks('go');
    yield* charges([]);
    return (yield* asks('size')).size;
  });
  const store = memoryStore({ clock, olderTokens: 'accept' });
  const keys = generateKey();
  const clientOf = (changes: object): TaskClient => {
    const hooks = { onError: () => undefined, onReject: () => undefined };
    return taskClient(
      hostForAll([order], { clock, keys, store: { ...store, ...changes }, hooks }).host,
      {
        clientId: 'ada',
      },
    );
  };
  const client = clientOf({});
  const { requestState } = await client.call('order', {}, named);
  const round = { requestState, inputResponses: answer('go', 'yes') };
  // The process dies behind the turn, before it has stored the task.
  const dying = clientOf({
    write: async (...entry: Parameters<SagaStore['write']>) => {
      if (entry[0].name === 'task') throw new Error('The process dies here.');
      return await store.write(...entry);
    },
  });
  await expect(dying.call('order', {}, round)).rejects.toThrow();
  const taskId = String((await client.call('order', {}, named))['taskId']);
  await client.idle();
  expect(await client.call('order', {}, round)).toMatchObject({ taskId });
  expect(await ended(client, taskId, 'L')).toMatchObject({ content: [{ text: 'L' }] });
});

/** Answers the question of a task, and returns its result. */
async function ended(client: TaskClient, taskId: string, size: string): Promise<unknown> {
  await client.update(taskId, answer('size', size));
  await client.idle();
  const { status, result } = await client.get(taskId);
  expect(status).toBe('completed');
  return result;
}
