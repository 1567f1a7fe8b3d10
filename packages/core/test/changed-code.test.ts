import { engineOf } from '@mcp-saga/core/program';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import {
  abort,
  all,
  allSettled,
  call,
  checkpoint,
  patched,
  pivot,
  poll,
  progress,
  race,
  ReplayMismatch,
  saga,
  SagaCancelled,
  sleep,
  step,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { ask } from './support/sagas.ts';
import { endsAtCommits, runtimeOf, World } from './support/world.ts';

/** What a run did, in order. */
type Did = string[];
type Policy = 'fail' | 'compensate';

const book = (did: Did, id: string) =>
  step(id, () => void did.push(id), { compensate: () => void did.push(`undo ${id}`) });
/** A step that only has an undo. */
const holds = (did: Did, id: string) =>
  step(id, () => undefined, { compensate: () => void did.push(`undo ${id}`) });
const fails = (id: string) => step(id, () => Promise.reject(new Error('no')));

const order = (body: () => Steps<unknown>, onMismatch: Policy = 'fail'): Program =>
  saga({ name: 'order', version: '1', reuse: 'ok', onMismatch }, function* () {
    yield* body();
    return 'done';
  });

/** Asserts that a turn failed with a mismatch, ran nothing, and undid nothing. */
function assertLeft(outcome: Outcome, did: Did, before: readonly string[]): ReplayMismatch {
  expect(outcome).toMatchObject({ status: 'failed', compensated: [], uncompensated: [] });
  expect(failed(outcome)).toBeInstanceOf(ReplayMismatch);
  expect(did).toEqual(before);
  return failed(outcome) as ReplayMismatch;
}

function* gen(command: Command<unknown>): Steps<unknown> {
  return yield* command;
}

const waits: [string, () => Steps<unknown>][] = [
  ['a checkpoint', () => gen(checkpoint())],
  ['a sleep', () => gen(sleep(60_000))],
  ['a poll', () => gen(poll('ready', () => undefined, { every: 60_000, timeout: 600_000 }))],
  ['a question', () => gen(ask('sure'))],
];

const groups: [string, (did: Did, more: boolean) => Steps<unknown>][] = [
  [
    'an all',
    function* (did, more) {
      yield* all([book(did, 'a'), book(did, 'b'), ...(more ? [book(did, 'new')] : [])]);
    },
  ],
  [
    'an all that failed',
    function* (did, more) {
      const branches = [fails('a'), book(did, 'b'), ...(more ? [book(did, 'new')] : [])];
      try {
        yield* all(branches);
      } catch {
        // The body continues without the result.
      }
    },
  ],
  [
    'a race',
    function* (did, more) {
      yield* race({ a: book(did, 'a'), b: ask('b'), ...(more ? { new: book(did, 'new') } : {}) });
    },
  ],
  [
    'a race that two have run',
    function* (did, more) {
      yield* race({
        a: book(did, 'a'),
        b: book(did, 'b'),
        ...(more ? { new: book(did, 'new') } : {}),
      });
    },
  ],
  [
    'an allSettled',
    function* (did, more) {
      yield* allSettled([fails('a'), book(did, 'b'), ...(more ? [book(did, 'new')] : [])]);
    },
  ],
  [
    'an all with a question more',
    function* (did, more) {
      yield* all([book(did, 'a'), ...(more ? [ask('new')] : [])]);
    },
  ],
];

const added = waits.flatMap(([wait, waiting]) =>
  groups.map(([group, body]): [string, string, typeof waiting, typeof body] => [
    group,
    wait,
    waiting,
    body,
  ]),
);

describe('a branch added to a finished group', () => {
  it.each(added)(
    '[R6] fails the replay before anything runs: %s, then %s',
    async (_, __, waiting, body) => {
      const did: Did = [];
      const make = (more: boolean): Program =>
        order(function* () {
          yield* body(did, more);
          yield* waiting();
        });
      const world = new World();
      const settings = { budget: 1_000, maxHold: 0 };
      const { state } = suspended(await start(make(false), {}, world, settings));
      const before = [...did];
      assertLeft(await turn(make(true), state, {}, world, settings), did, before);
      // The code was rolled back.
      world.time += 600_000;
      const outcome = await turn(
        make(false),
        state,
        { sure: accepted({ word: 'w' }) },
        world,
        settings,
      );
      expect(outcome.status === 'failed' && outcome.error instanceof ReplayMismatch).toBe(false);
    },
  );

  it('[R6] fails the replay while another question of the group is open', async () => {
    const did: Did = [];
    const make = (more: boolean): Program =>
      order(function* () {
        yield* all([book(did, 'a'), ask('sure'), ...(more ? [book(did, 'new')] : [])]);
      });
    const { state } = suspended(await start(make(false)));
    assertLeft(await turn(make(true), state, { sure: accepted({ word: 'w' }) }), did, ['a']);
    expect(completed(await turn(make(false), state, { sure: accepted({ word: 'w' }) }))).toBe(
      'done',
    );
  });

  it('[R6] does not run behind a new `patched` in a saga that waits further on', async () => {
    const did: Did = [];
    const before = order(function* () {
      yield* book(did, 'a');
      yield* sleep(60_000);
    });
    const after = order(function* () {
      yield* book(did, 'a');
      if (yield* patched('more')) yield* book(did, 'new');
      else yield* sleep(60_000);
    });
    const world = new World();
    const { state } = suspended(await start(before, {}, world, { budget: 1_000, maxHold: 0 }));
    world.time += 60_000;
    expect(completed(await turn(after, state, {}, world))).toBe('done');
    expect(did).toEqual(['a']);
  });
});

const child = (throws: boolean): Program =>
  saga({ name: 'child', version: '1', reuse: 'ok' }, function* () {
    yield* step('in', () => 1);
    if (throws) throw new Error('broken');
    return '';
  });

const broken: [string, (did: Did, isNew: boolean) => Steps<unknown>][] = [
  [
    'a throw',
    function* (did, isNew) {
      yield* book(did, 'a');
      if (isNew) throw new Error('broken');
    },
  ],
  [
    'a throw before anything',
    function* (did, isNew) {
      if (isNew) throw new Error('broken');
      yield* book(did, 'a');
    },
  ],
  [
    'a throw of a branch',
    function* (did, isNew) {
      const branch = function* (): Steps<void> {
        yield* book(did, 'a');
        if (isNew) throw new Error('broken');
      };
      yield* all([branch(), step('b', () => 1)]);
    },
  ],
  [
    'a throw of a called saga',
    function* (did, isNew) {
      yield* book(did, 'a');
      yield* call(child(isNew) as never, undefined as never);
    },
  ],
  [
    'an abort',
    function* (did, isNew) {
      yield* book(did, 'a');
      if (isNew) yield* abort('broken');
    },
  ],
];

describe('code that fails before the sealed position', () => {
  for (const [wait, waiting] of waits) {
    it.each(broken)(
      `[R6] [E10] fails with a mismatch that has a cause, before ${wait}: %s`,
      async (_, body) => {
        const did: Did = [];
        const make = (isNew: boolean): Program =>
          order(function* () {
            yield* body(did, isNew);
            yield* waiting();
          });
        const world = new World();
        const settings = { budget: 1_000, maxHold: 0 };
        const { state } = suspended(await start(make(false), {}, world, settings));
        for (const answers of [{}, { sure: accepted({ word: 'w' }) }]) {
          const { cause } = assertLeft(
            await turn(make(true), state, answers, world, settings),
            did,
            ['a'],
          );
          expect(cause).toMatchObject({ message: 'broken' });
        }
      },
    );
  }

  it('[R6] [E10] fails with a mismatch when the body is no longer a generator', async () => {
    const { state } = suspended(await start(order(() => gen(ask('sure')))));
    const none = saga({ name: 'order', version: '1' }, (() => 'done') as never) as Program;
    const { cause } = assertLeft(await turn(none, state), [], []);
    expect(cause).toMatchObject({ code: 'authoring_error' });
  });

  it('[R6] [E10] fails with a mismatch when replay exceeds maxCommands', async () => {
    const make = (more: boolean): Program =>
      order(function* () {
        if (more) for (;;) yield* progress(0);
        yield* ask('sure');
      });
    const { state } = suspended(await start(make(false)));
    const outcome = await turn(make(true), state, {}, new World(), {
      limits: { maxCommands: 100 },
    });
    expect(assertLeft(outcome, [], []).cause).toMatchObject({ code: 'limit_exceeded' });
  });

  it('[R6] [E10] fails with a mismatch when the body returns instead of waiting', async () => {
    for (const [, waiting] of waits) {
      const did: Did = [];
      const make = (ends: boolean): Program =>
        order(function* () {
          yield* book(did, 'a');
          if (!ends) yield* waiting();
        });
      const world = new World();
      const { state } = suspended(
        await start(make(false), {}, world, { budget: 1_000, maxHold: 0 }),
      );
      assertLeft(await turn(make(true), state, {}, world), did, ['a']);
    }
  });

  it('[R6] fails the saga if a new answer or a new step leads to the error', async () => {
    const did: Did = [];
    const unchanged = order(function* () {
      yield* book(did, 'a');
      yield* ask('sure');
      throw new Error('own');
    });
    const { state } = suspended(await start(unchanged));
    const outcome = await turn(unchanged, state, { sure: accepted({ word: 'w' }) });
    expect(outcome).toMatchObject({ error: { message: 'own' }, compensated: [{ stepId: 'a' }] });
    const stepping = order(function* () {
      yield* book(did, 'b');
      yield* checkpoint();
      yield* step('c', () => 1);
      throw new Error('own');
    });
    const { state: waiting } = suspended(await start(stepping));
    expect(await turn(stepping, waiting)).toMatchObject({ error: { message: 'own' } });
    expect(did).toEqual(['a', 'undo a', 'b', 'undo b']);
  });

  it('[R6] reports no undone steps when the code of an undo was changed between turns', async () => {
    const did: Did = [];
    const make = (undoes: readonly string[]): Program =>
      order(function* () {
        for (const id of ['a', 'b', 'c'])
          yield* undoes.includes(id) ? book(did, id) : step(id, () => void did.push(id));
        yield* fails('d');
      });
    const unchanged = make(['a', 'b', 'c']);
    const world = new World();
    const settings = { replace: { ...endsAtCommits(), commitsEach: true } };
    let { state } = suspended(await start(unchanged, {}, world, settings));
    for (let index = 0; !did.includes('undo b') && index < 9; index += 1)
      ({ state } = suspended(await turn(unchanged, state, {}, world, settings)));
    const undone = ['a', 'b', 'c', 'undo c', 'undo b'];
    expect(did).toEqual(undone);
    for (const undoes of [['a'], ['a', 'b'], ['a', 'c'], ['b', 'c']])
      assertLeft(await turn(make(undoes), state, {}, world, settings), did, undone);
    expect(await turn(unchanged, state, {}, world)).toMatchObject({
      error: { message: 'no' },
      compensated: [{ stepId: 'c' }, { stepId: 'b' }, { stepId: 'a' }],
    });
  });
});

describe('a mismatch with the policy `compensate`', () => {
  const sure = { sure: accepted({ word: 'w' }) };

  it('[R3] [E5] ignores a pivot that only the changed code has', async () => {
    for (const isMiddle of [false, true]) {
      const did: Did = [];
      const make = (isNew: boolean): Program =>
        order(function* () {
          yield* book(did, 'a');
          if (isNew && isMiddle) yield* pivot('paid');
          yield* book(did, 'b');
          if (isNew && !isMiddle) yield* pivot('paid');
          yield* ask('sure');
        }, 'compensate');
      const { state } = suspended(await start(make(false)));
      const outcome = await turn(make(true), state, sure);
      expect(failed(outcome)).toBeInstanceOf(ReplayMismatch);
      expect(did.filter((what) => what === 'undo a')).toEqual(['undo a']);
      const named =
        outcome.status === 'failed' ? [...outcome.compensated, ...outcome.uncompensated] : [];
      expect(named.map(({ stepId }) => stepId).toSorted()).toEqual(['a', 'b']);
    }
  });

  it('[R3] [E3] reports steps with undos after the mismatch', async () => {
    const did: Did = [];
    const make = (id: string, before = true): Program =>
      order(function* () {
        if (before) yield* holds(did, 'first');
        yield* step(id, () => void did.push(id));
        yield* holds(did, 'second');
        yield* step('third', () => undefined, {
          *compensate() {
            yield* step('undone', () => void did.push('undo third'));
          },
        });
        yield* ask('sure');
      }, 'compensate');
    const { state } = suspended(await start(make('a')));
    for (const guarded of [false, true]) {
      did.length = 0;
      const settings = { replace: { ...(guarded ? endsAtCommits() : {}) } };
      let outcome = await turn(make('renamed'), state, sure, new World(), settings);
      if (guarded)
        outcome = await turn(make('renamed'), suspended(outcome).state, {}, new World(), settings);
      expect(outcome).toMatchObject({ status: 'failed', compensated: [{ stepId: 'first' }] });
      const uncompensated = outcome.status === 'failed' ? outcome.uncompensated : [];
      expect(uncompensated.map(({ stepId }) => stepId).toSorted()).toEqual([
        'a',
        'second',
        'third',
      ]);
      expect(did).toEqual(['undo first']);
    }
  });

  it('[R3] [E6] undoes a cancelled saga, whatever its onMismatch', async () => {
    for (const policy of ['fail', 'compensate'] as const) {
      const did: Did = [];
      const make = (isNew: boolean): Program =>
        order(function* () {
          yield* book(did, 'a');
          if (isNew) {
            yield* pivot('paid');
            return;
          }
          yield* checkpoint();
        }, policy);
      const { state } = suspended(await start(make(false)));
      const outcome = await engineOf(make(true)).advance(state, new Map(), runtimeOf(new World()), {
        error: new SagaCancelled('enough'),
      });
      expect(outcome).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'a' }],
        uncompensated: [],
      });
      expect(did).toEqual(['a', 'undo a']);
    }
  });
});

describe('a saga that exceeds a limit', () => {
  it('[T11] [E3] is undone in the same order in a later turn with a higher maxCommands', async () => {
    const ran = async (limit: number, later: number): Promise<Did> => {
      const did: Did = [];
      const program = order(function* () {
        yield* book(did, 'a');
        for (const id of ['one', 'two', 'three', 'four']) yield* holds(did, id);
        yield* book(did, 'b');
      });
      const world = new World();
      const replace = { ...endsAtCommits(), commitsEach: true };
      const settings = { replace, limits: { maxCommands: limit } };
      let outcome = await start(program, {}, world, settings);
      for (let turns = 0; outcome.status === 'suspended' && turns < 20; turns += 1) {
        const maxCommands = outcome.undoes === true ? later : limit;
        outcome = await turn(program, outcome.state, {}, world, {
          replace,
          limits: { maxCommands },
        });
      }
      expect(failed(outcome)).toMatchObject({ code: 'limit_exceeded' });
      return did;
    };
    for (const [limit, undone] of [
      [2, ['undo one', 'undo a']],
      [4, ['undo three', 'undo two', 'undo one', 'undo a']],
    ] as const) {
      for (const later of [limit, 1_000]) expect(await ran(limit, later)).toEqual(['a', ...undone]);
    }
  });
});
