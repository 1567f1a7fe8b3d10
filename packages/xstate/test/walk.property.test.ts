import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { walk } from './support/walk.ts';

const numbers = fc.array(fc.nat({ max: 59 }), { minLength: 300, maxLength: 600 });

describe('a machine as a saga', () => {
  it('[R1] does what a live actor does that is never suspended, whatever the chart and the answers', async () => {
    // XState's development build tells of events to actors that have been stopped.
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const ended: Record<string, number> = {};
    let turns = 0;
    await fc.assert(
      fc.asyncProperty(numbers, async (drawn) => {
        const { live, saga, figures } = await walk(drawn);
        expect(saga).toEqual(live);
        ended[figures.ended] = (ended[figures.ended] ?? 0) + 1;
        turns += figures.turns;
      }),
      {
        numRuns: Number(process.env['WALKS'] ?? 500),
        ...(process.env['SEED'] === undefined ? {} : { seed: Number(process.env['SEED']) }),
      },
    );
    console.log(ended, turns);
    expect(turns).toBeGreaterThan(500);
  });
});
