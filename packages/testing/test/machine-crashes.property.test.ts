import { assert, asyncProperty, integer, noBias, pre } from 'fast-check';
import { expect, it } from 'vitest';
import { seeded } from '../../core/test/support/world.ts';
import { quietly } from '../../xstate/test/support/quietly.ts';
import { crashMachine, noFigures } from './support/crash-machine.ts';

/**
 * Machines that complete, are cancelled, end in a state with the tag, and get stuck, and one with an
 * effect that runs once.
 */
const everyEnd = [[28], [6], [222], [170], [49], [-1562701478]] satisfies [number][];

/** Machines of whose runs the test kit once told something wrong. */
const mistaken = [[845090297], [1717481581], [1187029767], [-1522765116]] satisfies [number][];

it('[E1] [E3] [E9] a machine of any chart runs each effect under one key and denies none, wherever its process dies', async () => {
  quietly();
  const figures = noFigures();
  await assert(
    asyncProperty(noBias(integer()), async (seed) => {
      // A chart of the small numbers that fast-check prefers does little.
      const random = seeded(seed);
      const numbers = Array.from({ length: 600 }, () => Math.floor(random() * 60));
      pre(await crashMachine(numbers, figures));
    }),
    // The seed says all about a machine that fails.
    {
      numRuns: Number(process.env['SAGA_RUNS'] ?? 12),
      endOnFailure: true,
      examples: [...everyEnd, ...mistaken],
    },
  );
  const { machines, runs, deaths, acts, undone, left, renumbered, ends } = figures;
  // The machines act, die, and undo, and reach every kind of end.
  expect(runs).toBeGreaterThan(4 * machines);
  expect(deaths).toBeGreaterThan(4 * machines);
  expect(acts).toBeGreaterThan(8 * machines);
  expect(undone).toBeGreaterThan(4 * machines);
  expect(left).toBeGreaterThan(machines);
  expect(renumbered).toBeLessThanOrEqual(2 + machines / 10);
  expect(Object.keys(ends).toSorted()).toEqual([
    'completed',
    'error',
    'saga_aborted',
    'saga_cancelled',
  ]);
});
