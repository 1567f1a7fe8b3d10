import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { all, call, compensator, scope, step } from '../src/index.ts';
import type { Steps } from '../src/model/command.ts';
import { Tasks } from '../src/replay/tasks.ts';
import { accepted, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';

const runs = Number(process.env['SAGA_RUNS'] ?? 200);

const refund = compensator('refund', z.object({ id: z.string() }), () => undefined);
const charge = (): { id: string } => ({ id: 'ch_1' });

const charges = sagaOf(function* () {
  return (yield* step('charge', charge)).id;
});
const asks = sagaOf(function* () {
  const { word } = yield* ask('word');
  yield* call(charges, {});
  return word;
});

const kinds: { readonly [kind: string]: () => Steps<unknown> } = {
  *plain() {
    return yield* step('charge', charge);
  },
  *key() {
    return yield* step('charge', charge, { key: 'k' });
  },
  *input() {
    return yield* step('charge', charge, { input: { cents: 719 } });
  },
  *empty() {
    return yield* step('charge', () => undefined);
  },
  *undone() {
    return yield* step('charge', charge, { compensate: () => undefined });
  },
  *named() {
    return yield* step('charge', charge, { compensate: refund.for(({ result }) => result) });
  },
  *failing() {
    try {
      return yield* step('fail', () => Promise.reject(new Error('no')));
    } catch (error) {
      return (error as Error).name;
    }
  },
  *call() {
    return yield* call(charges, {});
  },
  *question() {
    return yield* ask('word');
  },
  *nested() {
    return yield* call(asks, {});
  },
  *scope() {
    return yield* scope('inner', kinds['call']?.() as Steps<unknown>);
  },
  *beside() {
    return yield* all({
      one: call(charges, {}),
      two: call(asks, {}),
      three: step('charge', charge),
    });
  },
};

/** Replays every state of a saga, and returns the outcomes and what the body got. */
async function replayed(names: readonly string[]): Promise<unknown> {
  const got: unknown[] = [];
  const program = sagaOf(
    function* () {
      for (const name of names) got.push(yield* (kinds[name] as () => Steps<unknown>)());
      yield* ask('last');
      throw new Error('The end.');
    },
    { reuse: 'ok' },
  );
  const outcomes: unknown[] = [];
  let outcome = await start(program);
  while (outcome.status === 'suspended') {
    const { steps, state } = suspended(outcome);
    outcomes.push(outcome);
    const answers = steps.map(({ stepId }) => [stepId, accepted({ word: stepId })]);
    outcome = await turn(program, state, Object.fromEntries(answers));
  }
  return { got, outcomes, outcome };
}

it('[R1] replays an entry on the fast path as with a task', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(kinds)), { maxLength: 8 }),
      async (names) => {
        const fast = await replayed(names);
        const takePlain = vi.spyOn(Tasks.prototype, 'takePlain').mockReturnValue(false);
        try {
          expect(await replayed(names)).toEqual(fast);
        } finally {
          takePlain.mockRestore();
        }
      },
    ),
    { numRuns: runs },
  );
});
