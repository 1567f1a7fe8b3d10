import { memoryTaskStore } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from './fixtures/clock.ts';

test('writes only over the version that was read', async () => {
  const store = memoryTaskStore(testClock());
  const later = testClock()() + 1_000;
  expect(await store.read('a')).toBeUndefined();
  expect(await store.write('a', 'x', 1, later)).toBe(false);
  expect(await store.write('a', 'one', 0, later)).toBe(true);
  expect(await store.write('a', 'other', 0, later)).toBe(false);
  expect(await store.read('a')).toEqual({ version: 1, sealed: 'one' });
  expect(await store.write('a', 'two', 1, later)).toBe(true);
  expect(await store.read('a')).toEqual({ version: 2, sealed: 'two' });
});

test('forgets what has expired', async () => {
  const clock = testClock();
  const store = memoryTaskStore(clock);
  await store.write('a', 'x', 0, clock.now + 1_000);
  clock.now += 999;
  expect(await store.read('a')).toBeDefined();
  clock.now += 1;
  expect(await store.read('a')).toBeUndefined();
  await store.write('b', 'x', 0, clock.now + 1_000);
  expect(store.size).toBe(1);
});
