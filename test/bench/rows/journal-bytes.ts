import { elicit, saga, step, type Json, type Program } from '@mcp-saga/core';
import { z } from 'zod';
import { journalOf } from '../journal-of.ts';
import type { Row } from '../row.ts';

const Confirm = z.object({ ok: z.boolean() });

/**
 * What one server step with a tiny result adds to the state of a program, before anything is compressed. The result is
 * most of it, so another tiny one stands beside.
 */
export const journalBytes: Row = async () => {
  const [without, once, other] = await Promise.all([
    bytesWith([]),
    bytesWith([{ ok: true }]),
    bytesWith([{ id: 'ch_1' }]),
  ]);
  return [
    {
      figure: 'journal-bytes',
      ours: once - without,
      peers: [{ name: 'with the result {"id":"ch_1"}', value: other - without }],
    },
  ];
};

async function bytesWith(results: readonly Json[]): Promise<number> {
  // A step before, in both, so that no entry is the first of its stream: the first needs no comma.
  const program: Program = saga({ name: 'bench', version: '1' }, function* () {
    yield* step('reserve', () => ({ ok: true }));
    for (const result of results) yield* step('charge', () => result);
    yield* elicit('last', { message: 'And now?', schema: Confirm });
    return 'done';
  });
  const { state } = await journalOf(program, {}, () => ({}));
  return Object.values(state).join('').length;
}
