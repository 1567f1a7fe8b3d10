import { afterEach, expect, test, vi } from 'vitest';
import { sleep } from '../../src/settings/clock.ts';

const longestTimer = 2 ** 31 - 1;

afterEach(() => {
  vi.useRealTimers();
});

test('[W6] a wait may be longer than the maximum delay of a timer', async () => {
  vi.useFakeTimers();
  let isOver = false;
  const slept = sleep(longestTimer + 10, new AbortController().signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(longestTimer + 9);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await slept;
  expect(isOver).toBe(true);
});

test('[U4] a wait without an end stops when it is aborted', async () => {
  const waiting = new AbortController();
  const slept = sleep(Number.POSITIVE_INFINITY, waiting.signal);
  waiting.abort();
  expect(await slept).toBeUndefined();
});
