import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compensator, elicit, race, saga, SagaCancelled, step } from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Runtime } from '../src/model/runtime.ts';
import { accepted, completed, refused, start, suspended, turn } from './support/drive.ts';
import { runtimeOf, World, type RuntimeMembers } from './support/world.ts';

const options = { name: 'trip', version: '1', reuse: 'ok' } as const;
const Ok = z.object({ ok: z.boolean() });
const checkResult: Runtime['saga']['checkResult'] = async (result) => {
  if (result !== 'wrong') return `checked ${String(result)}`;
  throw Object.assign(new Error('not what it declares'), {
    name: 'ResultRefused',
    code: 'invalid_result',
  });
};

/** Books twice, and returns the given result. */
function tripOf(done: string[], result: string) {
  return saga(options, function* () {
    for (const what of ['hotel', 'car']) {
      yield* step(what, () => void done.push(what), {
        compensate: () => void done.push(`undo ${what}`),
      });
    }
    yield* elicit('sure', { message: 'm', schema: Ok });
    return result;
  });
}

describe('a result', () => {
  it('passes the converted result to the caller', async () => {
    const done: string[] = [];
    const world = new World();
    const trip = tripOf(done, 'right');
    const one = suspended(await start(trip, {}, world, { replace: { checkResult } }));
    const answers = { sure: accepted({ ok: true }) };
    expect(
      completed(await turn(trip, one.state, answers, world, { replace: { checkResult } })),
    ).toBe('checked right');
    expect(done).toEqual(['hotel', 'car']);
  });

  it('[E3] undoes all steps, last first, if the result is refused', async () => {
    const done: string[] = [];
    const world = new World();
    const trip = tripOf(done, 'wrong');
    const one = suspended(await start(trip, {}, world, { replace: { checkResult } }));
    const answers = { sure: accepted({ ok: true }) };
    const outcome = await turn(trip, one.state, answers, world, { replace: { checkResult } });
    expect(done).toEqual(['hotel', 'car', 'undo car', 'undo hotel']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: 'ResultRefused', code: 'invalid_result' },
      compensated: [{ stepId: 'car' }, { stepId: 'hotel' }],
      uncompensated: [],
    });
  });

  it('[E3] [R1] continues compensation in later turns, and checks the result once', async () => {
    const done: string[] = [];
    const world = new World();
    let asked = 0;
    const replace: RuntimeMembers = {
      checkResult: (result) => {
        asked += 1;
        return checkResult(result);
      },
    };
    const one = suspended(await start(tripOf(done, 'wrong'), {}, world, { replace }));
    const answers = { sure: accepted({ ok: true }) };
    let outcome: Outcome = await turn(tripOf(done, 'wrong'), one.state, answers, world, {
      budget: 0,
      replace,
    });
    let turns = 0;
    while (outcome.status === 'suspended') {
      turns += 1;
      outcome = await turn(tripOf(done, 'wrong'), outcome.state, {}, world, {
        budget: 1,
        replace: { ...replace, now: () => (world.time += 0.4) },
      });
      if (turns > 9) throw new Error('it does not end');
    }
    expect(turns).toBeGreaterThan(1);
    expect(asked).toBe(1);
    expect(done).toEqual(['hotel', 'car', 'undo car', 'undo hotel']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        name: 'ResultRefused',
        message: 'not what it declares',
        code: 'invalid_result',
        public: false,
      },
      compensated: [{ stepId: 'car' }, { stepId: 'hotel' }],
    });
    // No step of it has failed.
    expect(outcome).not.toMatchObject({ error: { stepId: expect.anything() } });
  });
});

describe('an end that is recorded', () => {
  it('[E6] is distinguished from the undo of a step with the same name', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      yield* step('cancel', () => void done.push('cancel'), {
        compensate: () => void done.push('undo cancel'),
      });
      yield* elicit('sure', { message: 'm', schema: Ok });
      return '';
    });
    const world = new World();
    const one = suspended(await start(trip, {}, world));
    // No time is left for the undo; and it is cancelled while that waits.
    const two = suspended(await turn(trip, one.state, { sure: refused() }, world, { budget: 0 }));
    const three = suspended(
      await engineOf(trip).advance(two.state, new Map(), runtimeOf(world, { turn: 3, budget: 0 }), {
        error: new SagaCancelled('bored'),
      }),
    );
    expect(done).toEqual(['cancel']);
    const outcome = await turn(trip, three.state, {}, world);
    expect(done).toEqual(['cancel', 'undo cancel']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'elicitation_refused' },
      compensated: [{ stepId: 'cancel' }],
      uncompensated: [],
    });
  });
});

describe('a journal limit', () => {
  it('[E4] reports a step of unknown outcome once, even if the journal is full', async () => {
    const aborted = ({ signal }: { readonly signal: AbortSignal }): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const undone: string[] = [];
    const release = compensator('release', z.object({}), () => void undone.push('fast'));
    const trip = saga(options, function* () {
      yield* race({
        slow: step('slow', aborted, {
          compensate: () => void undone.push('slow'),
          unknown: 'compensate',
        }),
        // Its compensator uses the journal room for the outcome of the other step.
        fast: step('fast', () => 1, { compensate: release.for(() => ({})) }),
      });
      return '';
    });
    const outcome = await start(trip, {}, new World(), { limits: { maxJournalEntries: 2 } });
    expect(undone).toEqual(['slow', 'fast']);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'limit_exceeded' },
      compensated: [{ stepId: 'slow' }, { stepId: 'fast' }],
      uncompensated: [],
    });
  });
});
