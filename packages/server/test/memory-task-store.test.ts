import { memoryTaskStore } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from './fixtures/clock.ts';

test('a task store in memory removes expired entries', async () => {
  const clock = testClock();
  const store = memoryTaskStore({ clock });
  await store.write('a', 'x', 0, clock.now + 1_000);
  clock.now += 999;
  expect(await store.read('a')).toBeDefined();
  clock.now += 1;
  expect(await store.read('a')).toBeUndefined();
  await store.write('b', 'x', 0, clock.now + 1_000);
  expect(store.size).toBe(1);
});
