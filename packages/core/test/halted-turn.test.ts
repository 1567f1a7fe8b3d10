import { describe, expect, it } from 'vitest';
import { pivot, saga, step } from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import type { Command, Steps } from '../src/model/command.ts';
import { start, turn } from './support/drive.ts';
import { World } from './support/world.ts';

const trip = (body: () => Steps<unknown>): Program =>
  saga({ name: 'trip', version: '1', reuse: 'ok', onMismatch: 'compensate' }, body);

/** A step that fails, and is tried again a minute later. */
const refused = (id: string): Command<unknown> =>
  step(
    id,
    () => {
      throw new Error('away');
    },
    { retry: { attempts: 2, delay: 60_000, maxDelay: 60_000, jitter: false } },
  );

/**
 * Takes turns a minute apart until the saga has ended: the first one on `first`, the others on
 * `later`.
 */
async function toEnd([first, later]: readonly [Program, Program], world: World): Promise<Outcome> {
  const settings = { budget: 30_000, maxHold: 0 };
  let outcome = await start(first, {}, world, settings);
  for (let turns = 1; outcome.status === 'suspended' && turns < 10; turns += 1) {
    world.time += 60_000;
    outcome = await turn(later, outcome.state, {}, world, settings);
  }
  return outcome;
}

describe('a halted turn', () => {
  it('[E3] undoes nothing more after a second step of an undo could not be claimed', async () => {
    const undone: string[] = [];
    const claim = (): never => {
      throw new Error('The guard is away.');
    };
    const refund = (id: string): Command<unknown> =>
      step(id, () => undefined, {
        *compensate() {
          yield* step('refund', () => void undone.push(id), { once: true });
        },
      });
    const program = trip(function* () {
      yield* step('first', () => undefined, { compensate: () => void undone.push('first') });
      yield* refund('second');
      yield* refund('third');
      throw new Error('no');
    });
    expect(await start(program, {}, new World(), { replace: { claim } })).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [{ stepId: 'third' }, { stepId: 'second' }, { stepId: 'first' }],
    });
    expect(undone).toEqual([]);
  });

  it('[R3] continues the retries of an undo in later turns of a saga with a mismatch', async () => {
    const attempts: number[] = [];
    const retry = { attempts: 3, delay: 60_000, maxDelay: 60_000, jitter: false };
    const undo = ({ attempt }: { readonly attempt: number }): void => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('away');
    };
    const program = (isChanged: boolean): Program =>
      trip(function* () {
        yield* step('a', () => 1, { compensate: undo, undo: { retry } });
        yield* refused(isChanged ? 'other' : 'b');
      });
    expect(await toEnd([program(false), program(true)], new World())).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'a' }],
    });
    expect(attempts).toEqual([1, 2, 3]);
  });

  it.each([
    [2, 'completed'],
    [1, 'failed'],
  ])(
    '[T11] counts the markers of a body without effects: %d entries, %s',
    async (maxJournalEntries, status) => {
      const program = trip(function* () {
        yield* pivot('one');
        yield* pivot('two');
      });
      expect(
        await start(program, {}, new World(), { limits: { maxJournalEntries } }),
      ).toMatchObject({
        status,
      });
    },
  );
});
