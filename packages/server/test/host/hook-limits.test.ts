import { elicit, memoryStore, saga, type HostHooks, type SagaTurn } from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deferred } from '../fixtures/deferred.ts';
import {
  accept,
  completed,
  hooksInto,
  hostOf,
  nothingTold,
  suspended,
  type TestHost,
} from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { type HostChanges } from '../fixtures/host-changes.ts';

const asksTwice = saga({ name: 'asks', version: '1' }, function* () {
  yield* elicit('one', { message: 'One?', schema: Empty });
  yield* elicit('two', { message: 'Two?', schema: Empty });
  return 'done';
});

function hostWith(hooks: HostHooks, options: HostChanges = {}): TestHost {
  const told = nothingTold();
  return {
    ...hostOf(asksTwice, {
      store: memoryStore(),
      hooks: { ...hooksInto(told), ...hooks },
      ...options,
    }),
    told,
  };
}

/** Takes all turns but the last, and returns the request that ends the saga. */
async function lastOf({ host }: TestHost): Promise<() => Promise<SagaTurn>> {
  const first = suspended(await host.start('asks', {}));
  const { token } = suspended(await host.resume(first.token, [accept('one', {})]));
  return () => host.resume(token, [accept('two', {})]);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const never = (): Promise<never> => new Promise(() => undefined);

describe('a queue that never settles', () => {
  test('[E8] delays a suspended turn until hookTimeout, and is reported', async () => {
    const { host, told } = hostWith({}, { queue: { send: never } });
    let hasEnded = false;
    const taken = host.start('asks', {}).finally(() => (hasEnded = true));
    await vi.advanceTimersByTimeAsync(9_999);
    expect([hasEnded, told.errors]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    suspended(await taken);
    expect(told.errors).toEqual([expect.objectContaining({ code: 'hook_timeout' })]);
    expect(String(told.errors[0])).toContain('queue.send');
  });

  test('[E8] delays a saga whose message it removes at most hookTimeout', async () => {
    const queue = { send: () => undefined, remove: never };
    const made = hostWith({}, { queue, limits: { hookTimeout: 50 } });
    const { told } = made;
    const last = await lastOf(made);
    const ended = last();
    await vi.advanceTimersByTimeAsync(50);
    expect(completed(await ended).result).toBe('done');
    expect(told.errors).toEqual([expect.objectContaining({ code: 'hook_timeout' })]);
    expect(String(told.errors[0])).toContain('queue.remove');
  });
});

describe('a hook that never settles', () => {
  test('[E8] delays an ended saga at most hookTimeout', async () => {
    const hooks = { onSettled: never };
    const made = hostWith(hooks, { limits: { hookTimeout: 50 } });
    const { told } = made;
    const last = await lastOf(made);
    const ended = last();
    await vi.advanceTimersByTimeAsync(50);
    expect(completed(await ended).result).toBe('done');
    expect(told.errors).toEqual([expect.objectContaining({ code: 'hook_timeout' })]);
    expect(String(told.errors[0])).toContain('onSettled');
  });
});

test('[E8] a queue that fails after hookTimeout is reported again, and leaves no timer', async () => {
  const late = deferred<never>();
  const queue = { send: () => late.promise };
  const { host, told } = hostWith({}, { queue, limits: { hookTimeout: 50 } });
  const started = host.start('asks', {});
  await vi.advanceTimersByTimeAsync(50);
  suspended(await started);
  expect(told.errors).toHaveLength(1);
  const cause = new Error('the queue is down');
  late.reject(cause);
  await vi.advanceTimersByTimeAsync(0);
  expect(told.errors.slice(1)).toEqual([expect.objectContaining({ code: 'queue_down', cause })]);
  expect(vi.getTimerCount()).toBe(0);
});

test('[E8] a hook that fails after hookTimeout is reported again, and leaves no timer', async () => {
  const late = deferred<never>();
  const hooks = { onSettled: () => late.promise };
  const made = hostWith(hooks, { limits: { hookTimeout: 50 } });
  const { told } = made;
  const last = await lastOf(made);
  const ended = last();
  await vi.advanceTimersByTimeAsync(50);
  completed(await ended);
  expect(told.errors).toHaveLength(1);
  const cause = new Error('nobody follows up');
  late.reject(cause);
  await vi.advanceTimersByTimeAsync(0);
  expect(told.errors.slice(1)).toEqual([cause]);
  expect(vi.getTimerCount()).toBe(0);
});

test('[E8] a queue and a hook that settle in time are not reported, and leave no timer', async () => {
  const kept = deferred<void>();
  const settled = deferred<void>();
  const queue = { send: () => kept.promise };
  const made = hostWith({ onSettled: () => settled.promise }, { queue });
  const { told } = made;
  const last = lastOf(made);
  await vi.advanceTimersByTimeAsync(5_000);
  kept.resolve();
  const ended = (await last)();
  await vi.advanceTimersByTimeAsync(5_000);
  settled.resolve();
  completed(await ended);
  expect(told.errors).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([0, -1, Number.NaN, '5 s'])(
  'hookTimeout of %o is rejected at the creation of a host',
  (hookTimeout) => {
    expect(() =>
      hostOf(asksTwice, { store: memoryStore(), limits: { hookTimeout: hookTimeout as number } }),
    ).toThrow(expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }));
  },
);
