import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { all, elicit, info, pivot, saga, step, type Saga } from '../src/index.ts';
import type { Steps } from '../src/model/command.ts';
import type { CommitPoint } from '../src/model/outcome.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import { TurnAborted } from '../src/values/errors.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { continuesAtCommits, World } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const ok = { sure: accepted({ ok: true }) };

function order(body: () => Steps<string>): Saga<undefined, undefined> {
  return saga({ name: 'order', version: '1' }, body);
}

/** The state of a saga that asks `sure`. */
async function asked(program: Saga<undefined, undefined>): Promise<ProgramState> {
  return suspended(await start(program)).state;
}

describe('a turn that commits', () => {
  it('[E1] runs its body once, whatever the number of committed steps', async () => {
    const steps = 400;
    let bodies = 0;
    let yields = 0;
    const program = order(function* () {
      bodies += 1;
      for (let index = 0; index < steps; index += 1) {
        yields += 1;
        yield* step('one', () => index, { key: `${index}` });
      }
      return 'done';
    });
    const points: CommitPoint[] = [];
    const replace = { ...continuesAtCommits(points), commitsEach: true };
    expect(completed(await start(program, {}, new World(), { replace }))).toBe('done');
    expect({ bodies, yields, commits: points.length }).toEqual({
      bodies: 1,
      yields: steps,
      commits: steps - 1,
    });
  });

  it('[E1] [R1] continues from each committed state as in the first run', async () => {
    const ran = async (from?: ProgramState): Promise<{ did: string[]; points: CommitPoint[] }> => {
      const did: string[] = [];
      const program = order(function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* all([
          step('a', () => void did.push('a')),
          (function* () {
            yield* step('b', () => void did.push('b'));
            yield* step('c', () => void did.push('c'));
          })(),
        ]);
        yield* pivot('packed');
        yield* step('d', () => void did.push('d'));
        return 'done';
      });
      const points: CommitPoint[] = [];
      const replace = { ...continuesAtCommits(points), commitsEach: true };
      const state = from ?? (await asked(program));
      const outcome = await turn(program, state, from === undefined ? ok : {}, new World(), {
        replace,
      });
      expect(completed(outcome)).toBe('done');
      return { did, points };
    };
    const { did, points } = await ran();
    expect(did).toEqual(['a', 'b', 'c', 'd']);
    expect(points.map(({ reason }) => reason)).toEqual(['step', 'pivot']);
    const rest = await Promise.all(points.map(async ({ state }) => (await ran(state)).did));
    expect(rest).toEqual([['c', 'd'], ['d']]);
  });

  it('[E1] asks open questions at the end of the turn, not at a commit', async () => {
    const program = order(function* () {
      yield* all([
        elicit('sure', { message: 'Sure?', schema: Ok, timeout: 60_000 }),
        (function* () {
          yield* step('a', () => 1);
          yield* step('b', () => 2);
        })(),
      ]);
      return 'done';
    });
    const world = new World();
    const points: CommitPoint[] = [];
    const replace = { ...continuesAtCommits(points), commitsEach: true };
    const { steps, state } = suspended(await start(program, {}, world, { replace }));
    expect(points).toMatchObject([{ steps: [], reason: 'step' }]);
    expect(steps).toMatchObject([{ stepId: 'sure' }]);
    expect(world.events.filter(({ type }) => type === 'asked')).toHaveLength(1);
    expect(completed(await turn(program, state, ok, world))).toBe('done');
  });

  it('[E1] passes the number and the token of the turn after the commit to the body', async () => {
    const program = order(function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('a', () => 1);
      yield* step('b', () => 2);
      const { turn: number, tokenBytes } = yield* info();
      return `${number} ${tokenBytes}`;
    });
    const replace = {
      commit: () => Promise.resolve({ turn: 7, tokenBytes: 99, deadline: undefined }),
      commitsEach: true,
    };
    expect(completed(await turn(program, await asked(program), ok, new World(), { replace }))).toBe(
      '7 99',
    );
  });

  it('[E1] runs and undoes nothing more if it cannot continue after a commit', async () => {
    const did: string[] = [];
    const program = order(function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('a', () => void did.push('a'), { compensate: () => void did.push('undo a') });
      yield* step('b', () => void did.push('b'));
      return 'done';
    });
    const lost = new TurnAborted(new Error('lost'));
    const replace = { commit: () => Promise.reject(lost), commitsEach: true };
    await expect(turn(program, await asked(program), ok, new World(), { replace })).rejects.toBe(
      lost,
    );
    expect(did).toEqual(['a']);
  });

  it('[T11] [E3] commits the end of a saga whose state cannot be stored, and undoes the saga', async () => {
    const did: string[] = [];
    const program = order(function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('a', () => void did.push('a'), { compensate: () => void did.push('undo a') });
      yield* step('b', () => void did.push('b'));
      return 'done';
    });
    const large = Object.assign(new Error('too large'), { code: 'token_too_large' });
    for (const keepsUndo of [true, false]) {
      const points: CommitPoint[] = [];
      const commit = (point: CommitPoint) => {
        points.push(point);
        return point.reason === 'undo' && keepsUndo
          ? Promise.resolve({ turn: 3, tokenBytes: 1, deadline: undefined })
          : Promise.reject(large);
      };
      const state = await asked(program);
      const replace = { commit, commitsEach: true };
      const outcome = await turn(program, state, ok, new World(), { replace });
      expect(failed(outcome)).toMatchObject({ message: 'too large' });
      expect(outcome).toMatchObject({ compensated: [{ stepId: 'a' }], uncompensated: [] });
      expect(points.map(({ reason }) => reason)).toEqual(['step', 'undo']);
      expect(did.splice(0)).toEqual(['a', 'undo a']);
    }
  });

  it('[E9] does not count steps after its commit as steps of an interrupted run', async () => {
    const program = order(function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('a', () => 1);
      yield* pivot('packed');
      yield* step('b', () => 2);
      yield* step('c', () => {
        throw new Error('503');
      });
      return 'done';
    });
    const points: CommitPoint[] = [];
    const replace = { ...continuesAtCommits(points), isInterrupted: true };
    const outcome = await turn(program, await asked(program), ok, new World(), { replace });
    expect(points.map(({ reason }) => reason)).toEqual(['pivot']);
    expect(outcome).toMatchObject({ status: 'failed', uncompensated: [] });
  });
});
