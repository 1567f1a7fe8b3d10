import { describe, expect, it } from 'vitest';
import { call, step } from '../src/index.ts';
import type { Command } from '../src/model/command.ts';
import { visitsIn } from '../../../test/support/count-visits.ts';
import { accepted, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';

// Work of four times as many entries: linear work takes four times as much, and a part that does
// not grow.
const few = 300;
const many = 1200;
const linear = 5;

type Entry = (index: number) => Command<unknown>;

const charge = sagaOf(function* () {
  return yield* step('charge', () => 'charged');
});

const entries: { readonly [name: string]: Entry } = {
  step: () => step('charge', () => 1),
  'step with a key': (index) => step('charge', () => 1, { key: `k${index}` }),
  'step with input': (index) => step('charge', () => 1, { input: { index } }),
  'step with compensate': () => step('charge', () => ({ id: 1 }), { compensate: () => undefined }),
  call: () => call(charge, {}),
};

/** A saga of so many entries, which then asks. Counts the commands that its body has yielded. */
function sagaOfEntries(
  entry: Entry,
  count: number,
  yields = { count: 0 },
): ReturnType<typeof sagaOf> {
  return sagaOf(
    function* () {
      for (let index = 0; index < count; index += 1) {
        yields.count += 1;
        yield* entry(index);
      }
      yield* ask('last');
      throw new Error('The end.');
    },
    { reuse: 'ok' },
  );
}

describe.each(Object.entries(entries))('a journal of entries of the kind %s', (_, entry) => {
  const askedLast = async (count: number) => {
    const yields = { count: 0 };
    const program = sagaOfEntries(entry, count, yields);
    const { state } = suspended(await start(program));
    return { program, state, yields };
  };

  it('[R1] is replayed with work that grows linearly with its length', async () => {
    const visitsOf = async (count: number): Promise<number> => {
      const { program, state } = await askedLast(count);
      return await visitsIn(() => turn(program, state));
    };
    expect(await visitsOf(many)).toBeLessThan(linear * (await visitsOf(few)));
  });

  it('[R1] is replayed by one run of the body', async () => {
    const { program, state, yields } = await askedLast(few);
    yields.count = 0;
    await turn(program, state);
    expect(yields.count).toBe(few);
  });
});

it('[E3] an undo stack is undone with work that grows linearly with its length', async () => {
  const visitsOf = async (count: number): Promise<number> => {
    const program = sagaOfEntries(entries['step with compensate'] as Entry, count);
    const { state } = suspended(await start(program));
    return await visitsIn(async () => {
      const ended = await turn(program, state, { last: accepted({ word: 'w' }) });
      expect(ended).toMatchObject({ status: 'failed', uncompensated: [] });
      expect(ended.status === 'failed' && ended.compensated).toHaveLength(count);
    });
  };
  expect(await visitsOf(many)).toBeLessThan(linear * (await visitsOf(few)));
});
