import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  allSettled,
  compensator,
  OutcomeUnknown,
  patched,
  pivot,
  poll,
  race,
  ReplayMismatch,
  sleep,
  step,
  type Saga,
} from '../src/index.ts';
import { orphan } from '../src/program-parts.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program, Runnable } from '../src/model/program.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, failed, refused, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const word = accepted({ word: 'w' });
const tick = (world: World): TurnSettings => ({
  budget: 1,
  replace: { now: () => (world.time += 0.4) },
});

/** A saga that is undone as far as possible when its code no longer fits. */
const trip = (body: () => Steps<string>): Saga<undefined, undefined> =>
  sagaOf(body, { reuse: 'ok', onMismatch: 'compensate' });

const book = (done: string[], id: string) =>
  step(id, () => (done.push(id), id), { compensate: () => void done.push(`undo ${id}`) });

/** Continues to the end, one effect a turn, with the code that `make` returns for each turn. */
async function finish(
  make: (turn: number) => Runnable,
  before: Outcome,
  world: World,
): Promise<Outcome> {
  let outcome = before;
  for (let number = 1; outcome.status === 'suspended'; number += 1) {
    if (number > 30) throw new Error('it does not end');
    outcome = await turn(make(number), outcome.state, {}, world, tick(world));
  }
  return outcome;
}

const refund = (done: string[]) =>
  compensator(
    'refund',
    z.object({ id: z.number() }),
    ({ args, idempotencyKey }) => void done.push(`refund ${args.id} ${idempotencyKey}`),
  );

describe('changes that break other workflow engines silently', () => {
  /** Runs `before` until it asks, then `after` from there. */
  async function changed(
    before: () => Steps<unknown>,
    after: () => Steps<unknown>,
  ): Promise<Outcome> {
    const of = (body: () => Steps<unknown>): Saga<undefined, undefined> =>
      sagaOf(function* () {
        yield* body();
        yield* ask('end');
        return 'done';
      });
    return turn(of(after), suspended(await start(of(before))).state, { end: word });
  }

  it('[R3] are a mismatch instead of a result for another step', async () => {
    const got: unknown[] = [];
    const outcome = await changed(
      function* () {
        yield* step('price', () => 100);
        yield* step('stock', () => 3);
      },
      function* () {
        got.push(yield* step('stock', () => 3), yield* step('price', () => 100));
      },
    );
    expect(failed(outcome)).toBeInstanceOf(ReplayMismatch);
    expect(failed(outcome)).toMatchObject({
      recorded: { kind: 'step', path: 'price' },
      asked: [{ kind: 'step', path: 'stock' }],
    });
    expect(got).toEqual([]);
  });

  it('[R3] are a mismatch instead of a second charge by a renamed step', async () => {
    let charges = 0;
    const charge = () => {
      charges += 1;
      return charges;
    };
    const outcome = await changed(
      function* () {
        yield* step('charge', charge);
      },
      function* () {
        yield* step('charge-card', charge);
      },
    );
    expect(failed(outcome)).toMatchObject({
      recorded: { path: 'charge' },
      asked: [{ path: 'charge-card' }],
    });
    expect(charges).toBe(1);
  });

  it('[R3] [R1] are a mismatch for a loop over other items, and each round has its own result', async () => {
    const over = (items: readonly string[]) =>
      function* (): Steps<unknown> {
        const results: string[] = [];
        for (const item of items)
          results.push(yield* step('each', ({ input }) => `did ${input}`, { input: item }));
        return results;
      };
    const seen: unknown[] = [];
    const keep = (body: () => Steps<unknown>) =>
      function* (): Steps<void> {
        seen.push(yield* body());
      };
    expect((await changed(over(['a', 'b', 'c']), keep(over(['a', 'b', 'c'])))).status).toBe(
      'completed',
    );
    expect(seen).toEqual([['did a', 'did b', 'did c']]);
    expect(failed(await changed(over(['a', 'b']), over(['b', 'a'])))).toMatchObject({
      recorded: { path: 'each' },
      asked: [{ path: 'each' }],
    });
  });
});

describe('patched', () => {
  const old = (): Saga<undefined, undefined> =>
    sagaOf(function* () {
      yield* step('a', () => 1);
      yield* step('b', () => 1);
      yield* ask('end');
      return 'old';
    });
  const changed = (calls = 1): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const answers: boolean[] = [];
      yield* step('a', () => 1);
      for (let call = 0; call < calls; call += 1) answers.push(yield* patched('check'));
      if (answers[0] === true) yield* step('new', () => 1);
      else yield* step('b', () => 1);
      yield* ask('end');
      for (let call = 0; call < calls; call += 1) answers.push(yield* patched('check'));
      return answers.join(' ');
    });

  it('[R5] is true for a saga that starts after the change, and stays true', async () => {
    const { state } = suspended(await start(changed()));
    expect(state.structure).toContain('new');
    expect(completed(await turn(changed(), state, { end: word }))).toBe('true true');
  });

  it('[R5] is false for a saga that was past it, and stays false in loops and later', async () => {
    const { state } = suspended(await start(old()));
    expect(completed(await turn(changed(3), state, { end: word }))).toBe(
      Array(6).fill(false).join(' '),
    );
    const invalid = suspended(await turn(changed(), state, { end: accepted({}) }));
    expect(completed(await turn(changed(), invalid.state, { end: word }))).toBe('false false');
  });

  it('[R5] is decided once for all parallel branches', async () => {
    const branch = function* (id: string): Steps<string> {
      yield* step(id, () => 1);
      return `${id} ${yield* patched('check')}`;
    };
    const make = (): Saga<undefined, undefined> =>
      sagaOf(function* () {
        const before = yield* all([branch('a'), branch('b')]);
        yield* ask('end');
        const after = yield* all([branch('a'), branch('b')]);
        return [...before, ...after].join(' ');
      });
    const { state } = suspended(await start(make()));
    expect(completed(await turn(make(), state, { end: word }))).toBe('a true b true a true b true');
    expect(state.structure.match(/patched/g)).toHaveLength(1);
  });

  it('[R3] is a mismatch if it is removed during a saga that recorded it', async () => {
    const { state } = suspended(await start(changed()));
    expect(failed(await turn(old(), state, { end: word }))).toMatchObject({
      recorded: { kind: 'patched' },
    });
  });
});

describe('onMismatch', () => {
  const steps = (done: string[], third: string) =>
    trip(function* () {
      yield* book(done, 'a');
      yield* book(done, 'b');
      yield* book(done, third);
      yield* ask('end');
      return '';
    });

  it('[R3] fail changes nothing, so that the code can be rolled back', async () => {
    const done: string[] = [];
    const { state } = suspended(await start(steps(done, 'c')));
    const changed = sagaOf(
      function* () {
        yield* book(done, 'renamed');
        return '';
      },
      { reuse: 'ok' },
    );
    expect(await turn(changed, state, { end: word })).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [],
    });
    expect(done).toEqual(['a', 'b', 'c']);
    expect((await turn(steps(done, 'c'), state, { end: word })).status).toBe('completed');
  });

  it('[R3] compensate undoes matching steps, and reports the others as uncompensated', async () => {
    const done: string[] = [];
    const { state } = suspended(await start(steps(done, 'c')));
    const outcome = await turn(steps(done, 'renamed'), state, { end: word });
    expect(failed(outcome)).toBeInstanceOf(ReplayMismatch);
    expect(outcome).toMatchObject({
      compensated: [{ stepId: 'b' }, { stepId: 'a' }],
      uncompensated: [{ stepId: 'c' }],
    });
    expect(done).toEqual(['a', 'b', 'c', 'undo b', 'undo a']);
  });

  it('[R3] compensate continues over turns, with the same code and with rolled back code', async () => {
    for (const later of ['renamed', 'c', 'renamed once more']) {
      const done: string[] = [];
      const world = new World();
      const { state } = suspended(await start(steps(done, 'c'), {}, world));
      const first = await turn(steps(done, 'renamed'), state, { end: word }, world, { budget: 0 });
      expect(first.status).toBe('suspended');
      const outcome = await finish(() => steps(done, later.replaceAll(' ', '-')), first, world);
      expect(outcome).toMatchObject({
        compensated: [{ stepId: 'b' }, { stepId: 'a' }],
        uncompensated: [{ stepId: 'c' }],
      });
      expect(done).toEqual(['a', 'b', 'c', 'undo b', 'undo a']);
    }
  });

  it('[R3] compensate ignores a pivot or undo that only the changed code has', async () => {
    const done: string[] = [];
    const world = new World();
    const old = trip(function* () {
      yield* book(done, 'a');
      yield* book(done, 'b');
      yield* ask('end');
      return '';
    });
    const changed = trip(function* () {
      yield* book(done, 'a');
      yield* pivot('never');
      return '';
    });
    const { state } = suspended(await start(old, {}, world));
    const first = await turn(changed, state, { end: word }, world, { budget: 0 });
    expect(await finish(() => changed, first, world)).toMatchObject({
      compensated: [{ stepId: 'a' }],
      uncompensated: [{ stepId: 'b' }],
    });
  });

  it('[R3] compensate undoes nothing twice, although the code changes during the undo', async () => {
    const done: string[] = [];
    const world = new World();
    const make = (undoB: string[], last = 'c'): Saga<undefined, undefined> =>
      trip(function* () {
        yield* book(done, 'a');
        yield* step('b', () => 'b', {
          *compensate() {
            for (const id of undoB) yield* step(id, () => void done.push(`b ${id}`));
          },
        });
        yield* book(done, last);
        yield* ask('end');
        return '';
      });
    const { state } = suspended(await start(make(['x', 'y']), {}, world));
    const versions = [
      make(['x', 'y']),
      make(['x', 'y']),
      make(['x', 'y']),
      make(['z', 'y']),
      make(['z'], 'd'),
    ];
    let outcome: Outcome = await turn(make(['x', 'y']), state, { end: refused() }, world, {
      budget: 0,
    });
    outcome = await finish(
      (number) => versions[Math.min(number, versions.length) - 1] as Program,
      outcome,
      world,
    );
    expect(done.filter((what) => what === 'undo c')).toHaveLength(1);
    expect(done.filter((what) => what === 'undo a')).toHaveLength(1);
    expect(done.filter((what) => what === 'b x')).toHaveLength(1);
    expect(outcome).toMatchObject({ status: 'failed' });
    if (outcome.status !== 'failed') return;
    const told = [...outcome.compensated, ...outcome.uncompensated].map(({ stepId }) => stepId);
    expect(told.toSorted()).toEqual(['a', 'b', 'c']);
    expect(outcome.compensated).toContainEqual({ stepId: 'a' });
  });
});

describe('named compensators', () => {
  const charging = (done: string[], id: string, options: { pivot?: 'before' | 'after' } = {}) =>
    trip(function* () {
      if (options.pivot === 'before') yield* pivot('p');
      yield* step(id, () => 7, { compensate: refund(done).for(({ result }) => ({ id: result })) });
      yield* step('extra', () => undefined, { compensate: refund(done).for(() => ({ id: 8 })) });
      if (options.pivot === 'after') yield* pivot('p');
      yield* step('mail', () => 1);
      yield* ask('end');
      return '';
    });
  const worldOf = (done: string[]): World => {
    const world = new World();
    world.compensators.set('refund', refund(done));
    return world;
  };

  it.each(['before', undefined] as const)(
    '[R3] run after a mismatch, with sealed arguments (pivot: %s)',
    async (at) => {
      const done: string[] = [];
      const world = worldOf(done);
      const options = at === undefined ? {} : { pivot: at };
      const { state } = suspended(await start(charging(done, 'charge', options), {}, world));
      const first = await turn(charging(done, 'renamed', options), state, { end: word }, world, {
        budget: 0,
      });
      expect(await finish(() => charging(done, 'renamed', options), first, world)).toMatchObject({
        compensated: [{ stepId: 'extra' }, { stepId: 'charge' }],
        uncompensated: [{ stepId: 'mail' }],
      });
      expect(done).toEqual(['refund 8 undo:~extra', 'refund 7 undo:~charge']);
    },
  );

  it('[R3] [E5] do not run after a mismatch past a pivot', async () => {
    const done: string[] = [];
    const world = worldOf(done);
    const { state } = suspended(
      await start(charging(done, 'charge', { pivot: 'after' }), {}, world),
    );
    expect(
      await turn(charging(done, 'renamed', { pivot: 'after' }), state, { end: word }, world),
    ).toMatchObject({
      compensated: [],
      uncompensated: [{ stepId: 'mail' }],
    });
    expect(done).toEqual([]);
  });

  it('[R3] are reported as uncompensated if the host no longer has them', async () => {
    const done: string[] = [];
    const { state } = suspended(await start(charging(done, 'charge')));
    expect(await turn(charging(done, 'renamed'), state, { end: word })).toMatchObject({
      compensated: [],
      uncompensated: [{ stepId: 'mail' }, { stepId: 'extra' }, { stepId: 'charge' }],
    });
  });

  it('[R3] [R5] run if the code of the saga was removed, over turns', async () => {
    const done: string[] = [];
    const world = worldOf(done);
    const { state } = suspended(await start(charging(done, 'charge'), {}, world));
    const gone = { engine: orphan('test', new Error('gone')) };
    const first = await turn(gone, state, {}, world, { budget: 0 });
    expect(await finish(() => gone, first, world)).toMatchObject({
      compensated: [{ stepId: 'extra' }, { stepId: 'charge' }],
      uncompensated: [{ stepId: 'mail' }],
    });
    expect(done).toHaveLength(2);
    // The effects of an interrupted turn are unknown, except those that it undid.
    const begun = { engine: orphan('test', new Error('gone'), 'turn 2') };
    const again = await turn(begun, state, {}, world, { budget: 0 });
    expect(await finish(() => begun, again, world)).toMatchObject({
      compensated: [{ stepId: 'extra' }, { stepId: 'charge' }],
      uncompensated: [{ stepId: 'turn 2' }, { stepId: 'mail' }],
    });
  });

  it('[R3] run if the code has removed or added them since', async () => {
    const done: string[] = [];
    const world = worldOf(done);
    const make = (named: boolean): Saga<undefined, undefined> =>
      trip(function* () {
        const compensation = refund(done).for(({ result }: { result: number }) => ({ id: result }));
        yield* step('charge', () => 7, named ? { compensate: compensation } : {});
        yield* ask('end');
        return '';
      });
    for (const [before, after] of [
      [true, false],
      [false, true],
    ] as const) {
      done.length = 0;
      const { state } = suspended(await start(make(before), {}, world));
      expect(await turn(make(after), state, { end: refused() }, world)).toMatchObject({
        compensated: [{ stepId: 'charge' }],
      });
      expect(done).toEqual(['refund 7 undo:~charge']);
    }
  });
});

/** A saga with every kind of entry that undoing knows. */
const golden = (done: string[]): Saga<undefined, undefined> =>
  trip(function* () {
    yield* pivot('p');
    yield* book(done, 'a');
    yield* step('pay', () => 7, { compensate: refund(done).for(({ result }) => ({ id: result })) });
    yield* allSettled([
      step('lost', () => Promise.reject(new OutcomeUnknown('lost')), {
        compensate: ({ stepKey }) => void done.push(`look ${stepKey}`),
        unknown: 'compensate',
      }),
      poll('ready', () => true, { every: 1, timeout: 1 }),
    ]);
    yield* race({ slept: sleep(0), never: sleep(1_000) });
    if (yield* patched('check')) yield* ask('sure');
    return '';
  });

/**
 * State of {@link golden} before its question, and in the middle of its undo: the texts are part of
 * the token's format.
 */
const began = {
  structure:
    '"hp",0,"sa",0,"spay",0,"bpay",0,"Pready",0,"glost",0,"ksleep","wsleep#2","j~patched:check",0',
  client: '{}',
  server:
    '"a",7,["refund",{"id":7}],true,{"name":"OutcomeUnknown","message":"lost","code":"outcome_unknown"},"0xoargb","1n967u2"',
  head: '{"turn":1,"asked":{"sure":"90es6p"}}',
};
const undoing = {
  ...began,
  structure: `${began.structure},"dcsure",-1725761444,"v~lost",0`,
  head: '{"turn":3,"others":null}',
};

describe('the format of states', () => {
  it('[R4] is the one of the golden states', async () => {
    expect(suspended(await start(golden([]))).state).toEqual(began);
  });

  it.each<[string, ProgramState, string[]]>([
    ['before', began, ['look do:lost', 'refund 7 undo:~pay', 'undo a']],
    ['in the middle of', undoing, ['refund 7 undo:~pay', 'undo a']],
  ])('[R4] continues a saga that was sealed %s the undo', async (_, state, expected) => {
    const done: string[] = [];
    const world = new World();
    world.compensators.set('refund', refund(done));
    expect(await turn(golden(done), state, { sure: refused() }, world)).toMatchObject({
      compensated: [{ stepId: 'lost' }, { stepId: 'pay' }, { stepId: 'a' }],
      uncompensated: [],
    });
    expect(done).toEqual(expected);
  });
});

describe('a patch that is not enabled yet', () => {
  const order = (enabled: boolean): Saga<undefined, undefined> =>
    sagaOf(function* () {
      yield* ask('before');
      const isPatched = yield* patched('check', { enabled });
      yield* step(isPatched ? 'new' : 'old', () => 1);
      yield* ask('end');
      return isPatched ? 'new' : 'old';
    });
  /** Runs a saga to its end by the code of these processes, one a turn. */
  async function through(...processes: readonly boolean[]): Promise<unknown> {
    const [one = false, two = false, three = false] = processes.map(order);
    const first = suspended(await start(one as Program));
    const second = suspended(await turn(two as Program, first.state, { before: word }));
    return completed(await turn(three as Program, second.state, { end: word }));
  }

  it('[R5] [E10] applies if another process has applied it, and to no other saga', async () => {
    expect(await through(false, true, false)).toBe('new');
    expect(await through(true, false, true)).toBe('old');
    expect(await through(false, false, false)).toBe('old');
    expect(await through(true, true, true)).toBe('new');
  });
});
