import { elicit, memoryStore, saga, type HostHooks } from '@mcp-saga/server';
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

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a hook that never settles', () => {
  test('[E8] delays a suspended turn until hookTimeout, and is reported', async () => {
    const { host, told } = hostWith({ onSuspended: () => new Promise(() => undefined) });
    let hasEnded = false;
    const taken = host.start('asks', {}).finally(() => (hasEnded = true));
    await vi.advanceTimersByTimeAsync(9_999);
    expect([hasEnded, told.errors]).toEqual([false, []]);
    await vi.advanceTimersByTimeAsync(1);
    suspended(await taken);
    expect(told.errors).toEqual([expect.objectContaining({ code: 'hook_timeout' })]);
    expect(String(told.errors[0])).toContain('onSuspended');
  });

  test('[E8] delays an ended saga at most hookTimeout', async () => {
    const hooks = { onSettled: () => new Promise(() => undefined) };
    const { host, told } = hostWith(hooks, { limits: { hookTimeout: 50 } });
    const first = suspended(await host.start('asks', {}));
    const second = suspended(await host.resume(first.token, [accept('one', {})]));
    const ended = host.resume(second.token, [accept('two', {})]);
    await vi.advanceTimersByTimeAsync(50);
    expect(completed(await ended).result).toBe('done');
    expect(told.errors).toEqual([expect.objectContaining({ code: 'hook_timeout' })]);
    expect(String(told.errors[0])).toContain('onSettled');
  });
});

test('[E8] a hook that fails after hookTimeout is reported again, and leaves no timer', async () => {
  const late = deferred<never>();
  const { host, told } = hostWith(
    { onSuspended: () => late.promise },
    { limits: { hookTimeout: 50 } },
  );
  const started = host.start('asks', {});
  await vi.advanceTimersByTimeAsync(50);
  suspended(await started);
  expect(told.errors).toHaveLength(1);
  late.reject(new Error('the queue is down'));
  await vi.advanceTimersByTimeAsync(0);
  expect(told.errors.at(-1)).toEqual(new Error('the queue is down'));
  expect(vi.getTimerCount()).toBe(0);
});

test('[E8] a hook that settles in time is not reported, and leaves no timer', async () => {
  const kept = deferred<void>();
  const { host, told } = hostWith({ onSuspended: () => kept.promise });
  const started = host.start('asks', {});
  await vi.advanceTimersByTimeAsync(5_000);
  kept.resolve();
  suspended(await started);
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
