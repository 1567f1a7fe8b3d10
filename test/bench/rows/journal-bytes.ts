import { elicit, saga, step, type Command, type Program, type Steps } from '@mcp-saga/core';
import { z } from 'zod';
import { journalOf } from '../journal-of.ts';
import type { Row } from '../row.ts';

const Confirm = z.object({ ok: z.boolean() });
const entries = 100;

/** Bytes that one journal entry adds to the state before compression, measured over 100 entries. */
export const journalBytes: Row = async () => {
  const none = await bytesOf(function* () {});
  const perEntry = async (body: (index: number) => Command<unknown>): Promise<number> => {
    const all = await bytesOf(function* () {
      for (let index = 0; index < entries; index += 1) yield* body(index);
    });
    return (all - none) / entries;
  };
  const steps = await perEntry((index) => step(`s${index}`, () => ({ i: index })));
  const input = await perEntry((index) =>
    step('charge', () => ({ i: index }), { input: { cents: 7190 }, key: `k${index}` }),
  );
  const questions = await perEntry(() => elicit('ok', { message: 'Is it fine?', schema: Confirm }));
  return [
    { figure: 'journal-bytes', ours: steps, peers: [] },
    { figure: 'journal-bytes-input', ours: input, peers: [] },
    { figure: 'journal-bytes-elicit', ours: questions, peers: [] },
  ];
};

async function bytesOf(body: () => Steps<void>): Promise<number> {
  const program: Program = saga({ name: 'bench', version: '1' }, function* () {
    yield* body();
    yield* elicit('last', { message: 'And now?', schema: Confirm });
    return 'done';
  });
  const { state } = await journalOf(program, {}, () => ({ ok: true }));
  return Object.values(state).join('').length;
}
