import { describe, expect, it } from 'vitest';
import { all, checkpoint, step } from '../src/index.ts';
import type { Program } from '../src/model/program.ts';
import { completed, drive, start, suspended } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

describe('a checkpoint', () => {
  it('[W1] shows a text once, which replay creates again and no journal stores', async () => {
    const made: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        for (const page of ['one', 'two']) {
          const text = yield* step(page, () => `page ${page}`);
          made.push(text);
          yield* checkpoint(text);
        }
        return 'done';
      });
    const { outcome, turns } = await drive({ make, world: new World(), answer: () => undefined });
    expect(completed(outcome)).toBe('done');
    const shown = turns.map((turn) =>
      turn.outcome.status === 'suspended' ? turn.outcome.content : [],
    );
    expect(shown).toEqual([['page one'], ['page two'], []]);
    expect(made).toEqual(['page one', 'page one', 'page two', 'page one', 'page two']);
  });

  it('shows nothing without a text, and the texts of all branches in order', async () => {
    const quiet = sagaOf(function* () {
      yield* checkpoint();
      return 'done';
    });
    const both = sagaOf(function* () {
      yield* all([checkpoint('one'), checkpoint(), checkpoint('')]);
      return 'done';
    });
    expect(suspended(await start(quiet))).not.toHaveProperty('content');
    expect(suspended(await start(both)).content).toEqual(['one', '']);
  });

  it('accepts only a text', () => {
    expect(() => checkpoint(7 as never)).toThrow('checkpoint() takes a string, or nothing.');
  });
});
