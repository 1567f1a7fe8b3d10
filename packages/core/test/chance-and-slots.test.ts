import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import {
  all,
  checkpoint,
  each,
  poll,
  step,
  type Command,
  type Saga,
  type Steps,
} from '../src/index.ts';
import { orphan } from '../src/program-parts.ts';
import { completed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { continuesAtCommits, World, type RuntimeMembers } from './support/world.ts';
import type { CommitPoint, CommittedTurn } from '../src/model/outcome.ts';

const kinds = ['each with a limit', 'all (control)'] as const;

describe('an interrupted turn', () => {
  it.each(kinds)(
    '%s: an effect behind a slot that the first run had begun is not denied',
    async (kind) => {
      const acted: string[] = [];
      const undone: unknown[] = [];
      let run = 1;
      const world = new World();
      const end = new AbortController();
      const a = () =>
        step('a', async () => {
          if (run === 2) for (let i = 0; i < 5; i += 1) await world.gate();
        });
      const r = () =>
        step(
          'r',
          async () => {
            if (run === 1)
              await new Promise<void>((resolve) =>
                end.signal.addEventListener('abort', () => resolve()),
              );
            return run;
          },
          { reads: true },
        );
      const z = () =>
        step(
          'z',
          () => {
            if (run === 2) throw new Error('down');
            acted.push('z');
            setImmediate(() => end.abort(new Error('crash')));
          },
          { compensate: (made) => void undone.push(made) },
        );
      const program = sagaOf(function* () {
        if (kind === 'all (control)')
          yield* all([
            (function* (): Steps<void> {
              yield* a();
              yield* z();
            })(),
            r(),
          ]);
        else
          yield* each([a, r, z], (make) => make() as ReturnType<typeof a>, {
            key: (_, at) => `${at}`,
            limit: 2,
          });
        return 'done';
      }, {});
      const points: CommitPoint[] = [];
      await expect(
        start(program, {}, world, { signal: end.signal, replace: continuesAtCommits() }),
      ).rejects.toThrow();
      expect(acted).toEqual(['z']);
      run = 2;
      const outcome = await start(program, {}, world, {
        replace: { isInterrupted: true, ...continuesAtCommits(points) },
      });
      expect(outcome.status).toBe('failed');
      // The first run has executed z: it must be undone, or be named.
      const named =
        outcome.status === 'failed' ? outcome.uncompensated.map(({ stepId }) => stepId) : [];
      expect([...undone, ...named].length).toBeGreaterThan(0);
    },
  );
});

it('reads in a row, which are no effects, need no commit between them', async () => {
  const points: CommitPoint[] = [];
  const program = sagaOf(function* () {
    yield* each(
      Array.from({ length: 1_000 }, (_, at) => at),
      () => step('read', () => 1, { reads: true }),
    );
    return 'done';
  });
  expect(
    completed(await start(program, {}, new World(), { replace: continuesAtCommits(points) })),
  ).toBe('done');
  expect(points.length).toBeLessThan(5);
});

it('a list whose turns are interrupted again notes once which of its steps may have run', async () => {
  const world = new World();
  const program = sagaOf(function* () {
    yield* each(
      Array.from({ length: 60 }, (_, at) => at),
      () => step('send', () => void (world.time += 100)),
      { limit: 5 },
    );
    return 'done';
  });
  const settings = { budget: 1_000 };
  const interrupted = { ...settings, replace: { isInterrupted: true } };
  let { state } = suspended(await start(program, {}, world, settings));
  const sizes: number[] = [];
  for (let again = 0; again < 3; again += 1) {
    ({ state } = suspended(await turn(program, state, {}, world, interrupted)));
    sizes.push(engineOf(program).timeline(state).length);
  }
  const [first = 0, second = 0, third = 0] = sizes;
  // Each further turn adds the ends of the steps that it ran.
  expect([second - first, third - second]).toEqual([10, 10]);
  let last = await turn(program, state, {}, world, settings);
  while (last.status === 'suspended') last = await turn(program, last.state, {}, world, settings);
  expect(completed(last)).toBe('done');
});

describe('a read', () => {
  const failing = (): never => {
    throw new Error('no');
  };
  it.each<[string, () => Steps<unknown>, RuntimeMembers]>([
    [
      'that runs once',
      function* () {
        yield* step('act', () => 1, { once: true });
      },
      {},
    ],
    [
      'that has failed',
      function* () {
        try {
          yield* step('act', failing);
        } catch {
          // The body goes on.
        }
      },
      {},
    ],
    [
      'of a saga that commits each step',
      function* () {
        yield* step('act', () => 1);
      },
      { commitsEach: true },
    ],
  ])('[E1] waits for the commit of an effect %s', async (_, act, replace) => {
    const points: CommitPoint[] = [];
    const looked: number[] = [];
    const program = sagaOf(function* () {
      yield* step('first', () => 1, { reads: true });
      yield* act();
      yield* step('look', () => looked.push(points.length), { reads: true });
      return 'done';
    });
    const replaced = { ...replace, ...continuesAtCommits(points) };
    completed(await start(program, {}, new World(), { replace: replaced }));
    // One commit before the effect, and one behind it.
    expect(looked).toEqual([2]);
  });

  it('[E1] begins no earlier than an effect beside it that waits for a commit', async () => {
    let paid: () => void = () => undefined;
    const whenPaid = new Promise<void>((resolve) => {
      paid = resolve;
    });
    const program = sagaOf(function* () {
      yield* step('first', () => 1, { reads: true });
      yield* all([step('watch', () => whenPaid, { reads: true }), step('pay', () => paid())]);
      return 'done';
    });
    const replace = continuesAtCommits();
    expect(completed(await start(program, {}, new World(), { replace }))).toBe('done');
  });
});

it('[E1] a report of a wait does not end the turn at a commit, and a page of a checkpoint does', async () => {
  const turnsOf = async (wait: () => Command<unknown>): Promise<number> => {
    const points: CommitPoint[] = [];
    const program = sagaOf(function* () {
      yield* all([
        wait(),
        (function* (): Steps<void> {
          for (const key of ['a', 'b', 'c']) yield* step('act', () => 1, { key, once: true });
        })(),
      ]);
      return 'done';
    });
    const world = new World();
    const deadline = world.time + 1e6;
    const commit = async (point: CommitPoint): Promise<CommittedTurn> => {
      points.push(point);
      return { turn: points.length + 1, tokenBytes: 1, deadline };
    };
    suspended(await start(program, {}, world, { budget: 1e6, maxHold: 0, replace: { commit } }));
    return points.length;
  };
  const polled = (): Command<unknown> =>
    poll('ready', () => undefined, { every: '1h', timeout: '2d', report: () => 'Not yet.' });
  expect(await turnsOf(polled)).toBeGreaterThan(1);
  expect(await turnsOf(() => checkpoint('A page.'))).toBe(0);
});

describe('a long list whose turn is interrupted', () => {
  const items = Array.from({ length: 1_000 }, (_, at) => `${at}`);

  /** Sends to all items; a turn has time for ten. The turn with the first ten is interrupted. */
  async function afterCrash(commitsEach: boolean) {
    const world = new World();
    const undone: unknown[] = [];
    let fails = false;
    const withLimit = (limit: number): Saga<undefined, undefined> =>
      sagaOf(function* () {
        const send = (): void => {
          world.time += 100;
          if (fails) throw new Error('down');
        };
        yield* each(
          items,
          () =>
            step('send', send, {
              unknown: 'compensate',
              compensate: ({ outcome }) => void undone.push(outcome),
            }),
          { key: (item) => item, limit },
        );
        return 'sent';
      });
    const program = withLimit(10);
    const budget = 1_000;
    const { state } = suspended(
      await start(program, {}, world, { budget, replace: { isInterrupted: true, commitsEach } }),
    );
    const failing = (limit = 10): ReturnType<typeof turn> => {
      fails = true;
      const replace = { commitsEach, ...continuesAtCommits() };
      return turn(withLimit(limit), state, {}, world, { replace });
    };
    return { state, entries: engineOf(program).timeline(state), undone, failing };
  }

  it.each([true, false])(
    '[E1] notes all steps that wait for a slot in one entry, with commitEach %s',
    async (commitsEach) => {
      const { entries } = await afterCrash(commitsEach);
      expect(entries.filter(({ outcome }) => outcome === 'outcome unknown')).toHaveLength(1);
      expect(entries.length).toBeLessThan(30);
    },
  );

  it.each([true, false])(
    '[E1] [E3] keeps their outcomes unknown in later turns, with commitEach %s',
    async (commitsEach) => {
      const { undone, failing } = await afterCrash(commitsEach);
      expect((await failing()).status).toBe('failed');
      // A step that fails now may have been done by the run that died.
      expect(undone.filter((outcome) => outcome === 'unknown').length).toBeGreaterThan(900);
      expect(undone.filter((outcome) => outcome === 'done').length).toBeGreaterThan(0);
    },
  );

  it.each([true, false])(
    '[E1] [R3] tells of the interrupted turn if the code is gone, with commitEach %s',
    async (commitsEach) => {
      const { state } = await afterCrash(commitsEach);
      const gone = { engine: orphan('test', new Error('gone')) };
      const ended = await turn(gone, state, {}, new World(), { replace: continuesAtCommits() });
      expect(ended).toMatchObject({ status: 'failed' });
      expect(ended.status === 'failed' && ended.uncompensated).toContainEqual({ stepId: 'turn 1' });
    },
  );

  it('[E1] [E3] keeps their outcomes unknown in code without a limit', async () => {
    const { undone, failing } = await afterCrash(false);
    expect((await failing(Number.POSITIVE_INFINITY)).status).toBe('failed');
    expect(undone.filter((outcome) => outcome === 'unknown').length).toBeGreaterThan(900);
  });
});
