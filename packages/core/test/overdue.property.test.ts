import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, start, turn, type Answers } from './support/drive.ts';
import { sagaOfWaits, waits, WaitModel } from './support/random-waits.ts';
import { World, type TurnSettings } from './support/world.ts';

const runs = Number(process.env['SAGA_RUNS'] ?? 200);
const settings: TurnSettings = { budget: 60_000, maxHold: 0 };

/**
 * Visits of a client: milliseconds after the reported time or after the question, and the answer.
 */
const visits = fc.array(
  fc.record({
    late: fc.oneof(fc.constantFrom(0, 1, 30_000, 30_001), fc.integer({ min: 0, max: 300_000 })),
    /** One bit for each open question. */
    answers: fc.integer({ min: 0, max: 7 }),
    /** How much later the turn is repeated. */
    repeated: fc.integer({ min: 1, max: 600_000 }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** The result of a saga, or `!` and its error. */
function resultOf(outcome: Outcome): unknown {
  if (outcome.status === 'completed') return outcome.result;
  return outcome.status === 'failed' ? `!${(outcome.error as Error).message}` : undefined;
}

describe('a random saga of waits, questions, and groups that race or fail', () => {
  it('[R1] [W6] agrees with a model that fires overdue events at their due times', async () => {
    await fc.assert(
      fc.asyncProperty(waits(), visits, async (tree, drawn) => {
        const world = new World();
        const model = new WaitModel(tree, world.time);
        let outcome = await start(sagaOfWaits(tree), {}, world, settings);
        for (const { late, answers: bits, repeated } of drawn) {
          if (outcome.status !== 'suspended') break;
          const open = outcome.steps.map(({ stepId }) => stepId);
          const ids = open.map((stepId) => stepId.split('/').at(-1) as string);
          expect(ids.toSorted()).toEqual(model.open.toSorted());
          const { retryAfterMs = 0, state } = outcome;
          expect(Number.isInteger(retryAfterMs)).toBe(true);
          const given = open.filter((_, index) => (bits >> (index % 3)) % 2 === 1);
          const answers: Answers = Object.fromEntries(
            given.map((stepId) => [stepId, accepted({})]),
          );
          world.time += retryAfterMs + late;
          const receivedAt = world.time;
          model.turn(
            receivedAt,
            new Set(given.map((stepId) => stepId.split('/').at(-1) as string)),
          );
          outcome = await turn(sagaOfWaits(tree), state, answers, world, settings);
          // The turn may be lost, and repeated later.
          world.time = receivedAt + repeated;
          const again = { ...settings, replace: { receivedAt } };
          const other = await turn(sagaOfWaits(tree), state, answers, world, again);
          expect(other.status).toBe(outcome.status);
          if (other.status === 'suspended' && outcome.status === 'suspended') {
            expect(other.state.structure).toBe(outcome.state.structure);
            expect(other.steps).toEqual(outcome.steps);
          }
          world.time = receivedAt;
        }
        expect(resultOf(outcome)).toBe(model.result);
      }),
      { numRuns: 5 * runs },
    );
  });
});
