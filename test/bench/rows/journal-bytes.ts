import { elicit, saga, step, type Program } from '@mcp-saga/core';
import { z } from 'zod';
import { journalOf } from '../journal-of.ts';
import type { Row } from '../row.ts';

const Confirm = z.object({ ok: z.boolean() });

/** What one server step with a tiny result adds to the state of a program, before anything is compressed. */
export const journalBytes: Row = async () => {
  const [without, once] = await Promise.all([bytesWith([]), bytesWith(['charge'])]);
  return [{ figure: 'journal-bytes', ours: once - without, peers: [] }];
};

async function bytesWith(ids: readonly string[]): Promise<number> {
  // A step before, in both, so that no entry is the first of its stream: the first needs no comma.
  const program: Program = saga({ name: 'bench', version: '1' }, function* () {
    yield* step('reserve', () => ({ ok: true }));
    for (const id of ids) yield* step(id, () => ({ ok: true }));
    yield* elicit('last', { message: 'And now?', schema: Confirm });
    return 'done';
  });
  const { state } = await journalOf(program, {}, () => ({}));
  return Object.values(state).join('').length;
}
