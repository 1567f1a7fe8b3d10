import { expect, test } from 'vitest';
import { limitedProgress } from '../../src/mcp/limited-progress.ts';

/** A clock, and what was told by it. */
function limited() {
  const clock = { now: 1_000_000 };
  const told: number[] = [];
  const progress = limitedProgress(
    ({ value }) => told.push(value),
    () => clock.now,
  );
  return { clock, told, progress };
}

test('[W5] tells progress ten times a second, the newest at the end, and nothing after it', () => {
  const { clock, told, progress } = limited();
  for (const [wait, value] of [
    [0, 1],
    [99, 2],
    [1, 3],
    [50, 4],
    [0, 5],
  ] as const) {
    clock.now += wait;
    progress.tell({ value });
  }
  expect(told).toEqual([1, 3]);
  progress.end();
  progress.tell({ value: 6 });
  expect(told).toEqual([1, 3, 5]);
});

test('[W5] goes on telling progress where the clock is set back', () => {
  const { clock, told, progress } = limited();
  progress.tell({ value: 1 });
  clock.now -= 3_600_000;
  progress.tell({ value: 2 });
  clock.now += 99;
  progress.tell({ value: 3 });
  clock.now += 1;
  progress.tell({ value: 4 });
  expect(told).toEqual([1, 2, 4]);
});
