import { assert, asyncProperty } from 'fast-check';
import { expect, it } from 'vitest';
import { quietly } from './support/quietly.ts';
import { decisions, walk } from './support/walk.ts';

it('[R1] a machine does what a live actor does that is never suspended, whatever chart and answers', async () => {
  quietly();
  const ended: Record<string, number> = {};
  let turns = 0;
  await assert(
    asyncProperty(decisions, async (drawn) => {
      const { live, saga, figures } = await walk(drawn);
      expect(saga).toEqual(live);
      ended[figures.ended] = (ended[figures.ended] ?? 0) + 1;
      turns += figures.turns;
    }),
    // The same walks each time, so that a test run cannot draw one that takes for ever; `pnpm walks` goes on with others.
    { numRuns: 500, seed: 328_088_403, endOnFailure: true },
  );
  // They go somewhere, and come to every kind of end.
  expect(turns).toBeGreaterThan(500);
  expect(Object.keys(ended).toSorted()).toEqual(['done', 'failed', 'walking']);
}, 240_000);
