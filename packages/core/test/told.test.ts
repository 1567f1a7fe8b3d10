/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { all, checkpoint, log, progress, step } from '../src/index.ts';
import type { Program } from '../src/model/program.ts';
import { AuthoringError } from '../src/values/errors.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, drive, failed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });

describe('progress and logs', () => {
  const telling = (): Program =>
    sagaOf(function* () {
      for (let round = 1; round <= 3; round += 1) {
        yield* progress(round * 10, 30, `round ${round}`);
        yield* log('info', { round });
        yield* step('work', () => round);
        yield* progress(round * 10 + 5);
        yield* ask('go');
        yield* log('debug', `went ${round}`);
      }
      yield* progress(100);
      return 'done';
    });

  it('[W5] are sent once, in order, and never again on replay', async () => {
    const world = new World();
    await drive({ make: telling, world, answer: () => word });
    expect(world.told).toEqual([
      ...[1, 2, 3].flatMap((round) => [
        { progress: round * 10, total: 30, message: `round ${round}` },
        { log: { round }, level: 'info' },
        { progress: round * 10 + 5 },
        { log: `went ${round}`, level: 'debug' },
      ]),
      { progress: 100 },
    ]);
  });

  it('[W5] increase strictly over all turns, and other values are not sent', async () => {
    const world = new World();
    const values = [5, 5, 3, 5.5, -1, 6, 6, 0, 7];
    const make = (): Program =>
      sagaOf(function* () {
        for (const value of values) {
          yield* progress(value);
          yield* checkpoint();
        }
        return 'done';
      });
    await drive({ make, world, answer: () => undefined });
    expect(world.told).toEqual([5, 5.5, 6, 7].map((value) => ({ progress: value })));
  });

  it('[W5] are sent again in a repeated turn', async () => {
    const make = telling;
    const { state } = suspended(await start(make()));
    for (let time = 0; time < 2; time += 1) {
      const world = new World();
      suspended(await turn(make(), state, { go: word }, world));
      expect(world.told).toHaveLength(4);
    }
  });

  it('[W5] of parallel branches increase together', async () => {
    const world = new World();
    world.order = () => 0.99;
    const branch = function* (id: string, from: number): Steps<void> {
      for (let value = from; value < from + 30; value += 10) {
        yield* progress(value);
        yield* step(id, () => world.gate());
      }
    };
    const program = sagaOf(function* () {
      yield* all([branch('a', 1), branch('b', 2), branch('c', 3)]);
      return 'done';
    });
    completed(await start(program, {}, world));
    const values = world.told.map((told) => ('progress' in told ? told.progress : 0));
    expect(values.length).toBeGreaterThan(3);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
  });

  it('reject values that cannot be sent', async () => {
    const attempts: (() => unknown)[] = [
      () => progress(Number.NaN),
      () => progress(Number.POSITIVE_INFINITY),
      () => log('info', { at: new Date() } as never),
      () => log('info', undefined as never),
    ];
    for (const attempt of attempts) {
      const program = sagaOf(function* () {
        attempt();
        yield* checkpoint();
        return 'never';
      });
      const error = failed(await start(program));
      expect(error).toBeInstanceOf(AuthoringError);
    }
  });
});
