import { engineOf } from '@mcp-saga/core/program';
import { all, elicit, saga, step, type Program } from '@mcp-saga/core';
import { z } from 'zod';
import { measure, type Candidate } from '../harness.ts';
import { journalOf } from '../journal-of.ts';
import type { Row } from '../row.ts';

const few = 10;
const many = 1000;

/**
 * Replay cost per step of one `all`, for many steps relative to few steps. A linear scheduler has a
 * ratio of 1.
 */
export const allSteps: Row = async ({ effort }) => {
  const timings = await measure([await running(few), await running(many)], effort);
  const { cpu, wall } = timings.of(`${many}`);
  const value = timings.of(`${few}`).cpu / few;
  return [
    {
      figure: 'all-1000',
      ours: cpu / many,
      wall: wall / many,
      peers: [{ name: `of ${few}`, value }],
    },
  ];
};

/** Runs a saga up to the question after its `all`. */
async function running(steps: number): Promise<Candidate> {
  const program = stepsAtOnce(steps);
  const { runtime } = await journalOf(program, {}, () => ({}));
  return {
    name: `${steps}`,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const { status } = await engineOf(program).advance(
          await engineOf(program).begin({}),
          new Map(),
          runtime,
        );
        if (status !== 'suspended') throw new Error(`The turn ${status}`);
      }
    },
  };
}

function stepsAtOnce(steps: number): Program {
  return saga({ name: 'bench', version: '1' }, function* () {
    yield* all(
      Array.from({ length: steps }, (_, index) => step('one', () => index, { key: `${index}` })),
    );
    yield* elicit('last', { message: 'And now?', schema: z.object({}) });
    return 'done';
  });
}
