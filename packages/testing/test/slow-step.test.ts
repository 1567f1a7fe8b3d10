import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { toldWhenSlow } from '../src/world/perform-step.ts';

it('reports a slow step once, and waits for the step', async () => {
  const told: string[] = [];
  const result = await new Promise((resolve) => {
    let end: (value: string) => void = () => undefined;
    const work = new Promise<string>((done) => {
      end = done;
    });
    const tell = (warning: string): void => {
      told.push(warning);
      end('done');
    };
    void toldWhenSlow('bake', work, { afterMs: 0, tell }).then(resolve);
  });
  expect(result).toBe('done');
  expect(told).toEqual([
    expect.stringContaining("The code of step 'bake' has been running for 0 s."),
  ]);
});

it('does not report a step that ends in time', async () => {
  const told: string[] = [];
  const work = Promise.resolve('done');
  expect(
    await toldWhenSlow('bake', work, { afterMs: 0, tell: (warning) => told.push(warning) }),
  ).toBe('done');
  await after(0);
  expect(told).toEqual([]);
});
