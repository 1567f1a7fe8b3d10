import { describe, expect, it, vi } from 'vitest';
import type { Program } from '../src/index.ts';
import { step } from '../src/index.ts';
import { accepted, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';

const reuse = { reuse: 'ok' } as const;

/** Counts the values that are encoded while steps with an undo are replayed. */
async function encodedInReplayOf(steps: number): Promise<number> {
  const make = (): Program =>
    sagaOf(function* () {
      for (let index = 0; index < steps; index += 1)
        yield* step('s', () => ({ list: [index] }), { compensate: () => undefined });
      yield* ask('end');
      return 'done';
    }, reuse);
  const { state } = suspended(await start(make()));
  const encode = vi.spyOn(JSON, 'stringify');
  try {
    suspended(await turn(make(), state));
    return encode.mock.calls.length;
  } finally {
    encode.mockRestore();
  }
}

describe('results for undos', () => {
  it('[R2] are not encoded again by a replay without an undo', async () => {
    expect(await encodedInReplayOf(100)).toBe(await encodedInReplayOf(10));
  });

  it.each([false, true])(
    '[E3] are those of the journal in each attempt, whatever the body changes (compressed: %s)',
    async (compress) => {
      const seen: unknown[] = [];
      const make = (): Program =>
        sagaOf(function* () {
          const undone = { at: new Date(5), list: [1] };
          for (const id of ['a', 'b', 'b']) {
            const result = yield* step(id, () => (id === 'a' ? 'plain' : undone), {
              compress,
              undo: { retry: { attempts: 2, delay: 0 } },
              compensate: (undo) => {
                seen.push([undo.attempt, JSON.stringify(undo.result)]);
                if (typeof undo.result === 'object') undo.result.list.push(3);
                if (undo.attempt === 1) throw new Error('not yet');
              },
            });
            if (typeof result === 'object') result.list.push(2);
          }
          yield* ask('end');
          throw new Error('fails in the second turn');
        }, reuse);
      const { state } = suspended(await start(make()));
      await turn(make(), state, { end: accepted({ word: 'w' }) });
      const kept = '{"at":"1970-01-01T00:00:00.005Z","list":[1]}';
      expect(seen).toEqual(
        [kept, kept, '"plain"'].flatMap((text) => [1, 2].map((attempt) => [attempt, text])),
      );
    },
  );
});
