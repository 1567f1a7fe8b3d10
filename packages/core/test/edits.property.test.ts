import { assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { caseOf, runCase } from './support/edit-case.ts';

describe('a random saga with code changed between two turns', () => {
  it('[R3] [R6] [E10] continues correctly, or is a mismatch that can be rolled back, or undone as recorded', async () => {
    const ends: Record<string, number> = {};
    const kinds = new Set<string>();
    await assert(
      asyncProperty(integer({ min: 1, max: 2 ** 31 }), async (seed) => {
        const { kind, end, problems } = await runCase(caseOf(seed));
        // `tsx packages/core/test/edits.ts 1 SEED` prints a smaller failing case.
        expect({ seed, kind, problems }).toEqual({ seed, kind, problems: [] });
        ends[end] = (ends[end] ?? 0) + 1;
        kinds.add(kind);
      }),
      { numRuns: Number(process.env['SAGA_RUNS'] ?? 500), endOnFailure: true },
    );
    expect(Object.keys(ends)).toEqual(expect.arrayContaining(['right', 'mismatch', 'undone']));
    expect(kinds.size).toBeGreaterThan(31);
    // Undecided cases are rare.
    expect(
      (ends['another order'] ?? 0) + (ends['aborted then'] ?? 0) + (ends['alike'] ?? 0),
    ).toBeLessThan(25);
  });
});
