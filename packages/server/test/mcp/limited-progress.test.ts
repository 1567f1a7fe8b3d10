import { expect, test } from 'vitest';
import { limitedProgress } from '../../src/mcp/limited-progress.ts';

/** A clock, and the progress that was sent by it. */
function limited() {
  const clock = { now: 1_000_000 };
  const told: number[] = [];
  const progress = limitedProgress(
    ({ value }) => told.push(value),
    () => clock.now,
  );
  return { clock, told, progress };
}

test('[W5] sends ten values at once, then ten a second, and the last value at the end', () => {
  const { clock, told, progress } = limited();
  const burst = Array.from({ length: 10 }, (_, index) => index + 1);
  for (const value of [...burst, 11, 12]) progress.report({ value });
  expect(told).toEqual(burst);
  clock.now += 99;
  progress.report({ value: 13 });
  expect(told).toEqual(burst);
  clock.now += 1;
  progress.report({ value: 14 });
  progress.report({ value: 15 });
  expect(told).toEqual([...burst, 14]);
  progress.end();
  progress.report({ value: 16 });
  expect(told).toEqual([...burst, 14, 15]);
});

test('[W5] allows one burst at most, also after a long silence', () => {
  const { clock, told, progress } = limited();
  for (let value = 1; value <= 10; value += 1) progress.report({ value });
  clock.now += 3_600_000;
  for (let value = 11; value <= 30; value += 1) progress.report({ value });
  expect(told).toHaveLength(20);
  expect(told.at(-1)).toBe(20);
});

test('[W5] continues to send progress when the clock is set back', () => {
  const { clock, told, progress } = limited();
  for (let value = 1; value <= 11; value += 1) progress.report({ value });
  clock.now -= 3_600_000;
  progress.report({ value: 12 });
  clock.now += 100;
  progress.report({ value: 13 });
  expect(told.slice(10)).toEqual([13]);
});

test('[W5] sends the delayed value before a question, once', () => {
  const { told, progress } = limited();
  for (let value = 1; value <= 25; value += 1) progress.report({ value });
  progress.flush();
  progress.flush();
  expect(told.slice(10)).toEqual([25]);
  progress.end();
  expect(told.slice(10)).toEqual([25]);
});
