import { assert, asyncProperty, pre } from 'fast-check';
import { expect, it } from 'vitest';
import { quietly } from './support/quietly.ts';
import { decisions, walk } from './support/walk.ts';

it('[R1] a machine behaves as a live actor that is never suspended, for any chart and answers', async () => {
  quietly();
  const ended: Record<string, number> = {};
  let turns = 0;
  await assert(
    asyncProperty(decisions, async (drawn) => {
      const walked = await walk(drawn);
      pre(walked !== undefined);
      const { live, saga, figures } = walked;
      expect(saga).toEqual(live);
      ended[figures.ended] = (ended[figures.ended] ?? 0) + 1;
      turns += figures.turns;
    }),
    // Its seed says all about a walk that fails: to look for a smaller one takes hundreds of walks.
    { numRuns: Number(process.env['SAGA_RUNS'] ?? 500), endOnFailure: true },
  );
  // The walks make progress, and reach every kind of end.
  expect(turns).toBeGreaterThan(500);
  expect(Object.keys(ended).toSorted()).toEqual(['done', 'failed', 'walking']);
});
