import { array, assert, asyncProperty, nat, pre } from 'fast-check';
import { expect, it } from 'vitest';
import { quietly } from './support/quietly.ts';
import { decisions } from './support/walk.ts';
import { walkChanged } from './support/walk-changed.ts';

const changes = array(nat({ max: 59 }), { minLength: 12, maxLength: 12 });

it('[R3] a changed machine continues correctly, or is a mismatch that undoes nothing', async () => {
  quietly();
  const ends: Record<string, number> = {};
  await assert(
    asyncProperty(decisions, changes, async (drawn, changed) => {
      const walked = await walkChanged(drawn, changed);
      pre(walked !== undefined);
      expect(walked).toEqual({ ...walked, problems: [] });
      ends[walked.end] = (ends[walked.end] ?? 0) + 1;
    }),
    { numRuns: Number(process.env['SAGA_RUNS'] ?? 300), endOnFailure: true },
  );
  expect(Object.keys(ends).toSorted()).toEqual(['continued', 'continued as before', 'mismatch']);
});
