import { engineOf } from '@mcp-saga/core/program';
/**
 * A branch that is ended while something in it runs: its `finally` runs when that has ended, the
 * same under replay.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  elicit,
  poll,
  race,
  ReplayMismatch,
  sample,
  scope,
  sleep,
  step,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import {
  assertSame,
  noted,
  noteOnly,
  noting,
  untilTold,
  withStep,
  type Body,
  type Branch,
  type Note,
} from './support/noted.ts';
import { ask } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });
const polling = (world: World): Command<unknown> =>
  poll<undefined>('slow', untilTold(world), { every: 10, timeout: 100_000 });
const failing = (world: World): Command<unknown> =>
  step('failing', async () => {
    await world.sleep(5);
    throw new Error('boom');
  });

function* caught(note: Note, steps: Command<unknown>): Steps<string> {
  try {
    yield* steps;
  } catch (error) {
    note(`caught ${(error as Error).message}`);
  }
  yield* ask('end');
  return 'done';
}

const runs: readonly (readonly [string, (world: World) => Command<unknown>])[] = [
  ['a poll', polling],
  ['a step that succeeds nevertheless', (world) => step('slow', untilTold(world))],
  [
    'a step that fails then',
    (world) =>
      step('slow', async (context) => {
        await untilTold(world)(context);
        throw new Error('aborted');
      }),
  ],
  [
    'a fallback',
    (world) =>
      elicit('slow', {
        message: 'm',
        schema: z.object({ word: z.string() }),
        fallback: async (context) => {
          await untilTold(world)(context);
          return { word: 'w' };
        },
      }),
  ],
  [
    'sampling at the host',
    () =>
      sample('slow', {
        messages: [{ role: 'user', content: { type: 'text', text: 'm' } }],
        maxTokens: 1,
      }),
  ],
];

type Grouped = (slow: (world: World) => Command<unknown>, branch: Branch) => Body;

/**
 * Groups in which a branch runs while another one ends them, and the order of their `finally`
 * blocks.
 */
const groups: readonly (readonly [string, readonly string[], Grouped])[] = [
  [
    'beside a step that fails',
    ['c', 'a', 'caught boom'],
    (slow, branch) => (note, world) =>
      caught(
        note,
        all([branch(note, 'a', slow(world)), failing(world), branch(note, 'c', ask('never'))]),
      ),
  ],
  [
    'in a race that another one wins',
    ['c', 'a'],
    (slow, branch) => (note, world) =>
      caught(
        note,
        race({
          a: branch(note, 'a', slow(world)),
          b: step('winning', () => world.sleep(5)),
          c: branch(note, 'c', ask('never')),
        }),
      ),
  ],
  [
    'in a group of a branch that is ended',
    ['b', 'd', 'a', 'inner', 'caught boom'],
    (slow, branch) => (note, world) => {
      const inner = allSettled([branch(note, 'a', slow(world)), branch(note, 'b', ask('never'))]);
      const scoped = scope('s', branch(note, 'd', ask('never')));
      return caught(note, all([branch(note, 'inner', inner), failing(world), scoped]));
    },
  ],
];

const cases = groups.flatMap(([where, order, group]) =>
  runs.map(([what, run]) => [what, where, order, group, run] as const),
);

describe('a running step of an ended branch', () => {
  it.each(cases)(
    '[R1] [U3] is awaited before its `finally` runs, in the first run and under replay: %s %s',
    async (_what, _where, order, group, run) => {
      const each = await noted(group(run, noteOnly));
      expect(completed(each.outcome)).toBe('done');
      expect(each.notes).toEqual([order, order]);
    },
  );

  it.each(cases)(
    '[R1] [U3] is awaited before a step in its `finally` runs: %s %s',
    async (_what, _where, order, group, run) => {
      const each = await noted(group(run, withStep), true);
      expect(completed(each.outcome)).toBe('done');
      assertSame(each);
      expect(each.notes.at(-1)?.toSorted()).toEqual(
        order
          .flatMap((name) => (name.startsWith('caught') ? [name] : [name, `${name} has left`]))
          .toSorted(),
      );
    },
  );

  it('[R1] [E6] is withdrawn if the saga is aborted', async () => {
    const aborting = function* (): Steps<void> {
      yield* sleep(5);
      yield* abort('enough');
    };
    const each = await noted(function* (note, world) {
      try {
        yield* all([
          noteOnly(note, 'a', polling(world)),
          aborting(),
          noteOnly(note, 'c', ask('never')),
          withStep(note, 'd', ask('never')),
        ]);
      } finally {
        yield* step('one', () => 1);
        yield* step('two', () => 1);
      }
      return '';
    }, true);
    assertSame(each);
    expect(each.notes.at(-1)).toEqual(['c', 'd', 'a', 'd has left']);
  });

  it('[R1] [E3] is awaited and withdrawn in an undo', async () => {
    const each = await noted(function* (note, world) {
      yield* step('book', () => 1, {
        compensate: function* () {
          const branches = [
            noteOnly(note, 'a', polling(world)),
            failing(world),
            noteOnly(note, 'c', sleep(9_000)),
          ];
          try {
            yield* all(branches);
          } finally {
            note('undone');
            yield* step('last', () => 1);
          }
        },
      });
      throw new Error('no');
    }, true);
    assertSame(each);
    expect(each.outcome).toMatchObject({ uncompensated: [{ stepId: 'book' }] });
    expect(each.notes.at(-1)).toEqual(['c', 'a', 'undone']);
  });

  it('[R1] [U3] is withdrawn if it was to be retried and had not begun', async () => {
    const each = await noted((note) => {
      const slow = step('slow', () => note('runs'));
      return caught(
        note,
        all([
          noteOnly(note, 'a', sleep(0)),
          // It is over at once, and then fails: before the step has its key.
          (function* (): Steps<void> {
            yield* sleep(0);
            throw new Error('boom');
          })(),
          noteOnly(note, 'd', slow),
          noteOnly(note, 'c', ask('never')),
        ]),
      );
    });
    expect(each.notes).toEqual([each.notes[0], each.notes[0]]);
    expect(each.notes[0]).toEqual(['a', 'c', 'd', 'caught boom']);
    expect((each.turns[1]?.before.structure ?? '').match(/"[tw]\d\/slow"/g)).toEqual([
      '"t2/slow"',
      '"w2/slow"',
    ]);
  });
});

describe('the entry of a poll that was withdrawn while it ran', () => {
  const [, , group] = groups[0] as (typeof groups)[number];
  const begun = async () => {
    const world = new World();
    const { make, notes } = noting(group(polling, noteOnly), world);
    const { state } = suspended(await start(make(), {}, world));
    return { make, notes, world, state };
  };

  it('[R1] has an outcome of its own', async () => {
    const { make, state } = await begun();
    expect(
      engineOf(make())
        .timeline(state)
        .map(({ kind, path, outcome }) => [kind, path, outcome]),
    ).toEqual([
      ['input', '', 'parsed'],
      ['step', 'failing', 'failed'],
      ['poll', '0/slow', 'withdrawn while it ran'],
    ]);
  });

  it('[R4] has no such outcome in older tokens, which replay as before', async () => {
    const { make, notes, world, state } = await begun();
    expect(state.structure).toContain('"W0/slow"');
    const old = { ...state, structure: state.structure.replace('"W0/slow"', '"w0/slow"') };
    expect(completed(await turn(make(), old, { end: word }, world))).toBe('done');
    expect(notes).toEqual([
      ['c', 'a', 'caught boom'],
      ['a', 'c', 'caught boom'],
    ]);
  });

  it('[R3] is a mismatch for a poll whose branch has not ended', async () => {
    const { make, world, state } = await begun();
    const structure = state.structure.slice(state.structure.indexOf('"W0/slow"'));
    const error = failed(await turn(make(), { ...state, structure }, { end: word }, world));
    expect(error).toBeInstanceOf(ReplayMismatch);
  });
});
