import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  AnswerConflict,
  elicit,
  ElicitationRefused,
  elicitUrl,
  listRoots,
  sample,
} from '../src/index.ts';
import type { ClientAnswer } from '../src/model/client-step.ts';
import type { Command } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import { Journal } from '../src/journal/journal.ts';
import { entriesOf } from '../src/journal/entry-types.ts';
import {
  accepted,
  answered,
  refused,
  said,
  start,
  suspended,
  turn,
  type Answers,
} from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';

const none: ProgramState = { head: '', structure: '', client: '', server: '' };
const add = (journal: Journal, path: string, fingerprint = 7): void =>
  journal.append({ type: 'empty', path, fingerprint });

describe('a repeated open part of a path', () => {
  it('[R4] is written once, and read by its place among the entries', () => {
    const first = new Journal(none, 100);
    const paths = ['charge(a)', 'charge(b)', 'mail', 'charge(b)#2', 'refund(c)', 'charge(d)'];
    for (const path of paths) add(first, path);
    const { structure, server } = first.texts();
    expect(structure).toBe('"vcharge(","v(","vmail","v(","vrefund(","vcharge("');
    // A later turn continues behind the last entry with a key.
    const second = new Journal({ ...none, structure, server }, 100);
    second.skipTo(6);
    add(second, 'charge(e)');
    const texts = second.texts();
    expect(texts.structure.endsWith('"vcharge(","v("')).toBe(true);
    const third = new Journal({ ...none, ...texts }, 100);
    expect(third.skipTo(7).map(({ path }) => path)).toEqual([...paths, 'charge(e)']);
    const entries = entriesOf(
      JSON.parse(`[${texts.structure}]`) as string[],
      JSON.parse(`[${texts.server}]`) as string[],
    );
    expect([...entries].map(({ path }) => path)).toEqual([...paths, 'charge(e)']);
  });

  it('[R4] is distinguished from a path that begins with a bracket', () => {
    const journal = new Journal(none, 100);
    const paths = ['(x)', 'charge(a)', '(x)', '(', 'charge(b)', '(y)#2'];
    for (const path of paths) add(journal, path);
    const read = new Journal({ ...none, ...journal.texts() }, 100);
    expect(read.skipTo(6).map(({ path }) => path)).toEqual(paths);
  });
});

const Name = z.object({ name: z.string() });
const form = (): Command<unknown> => elicit('ask', { message: 'Who?', schema: Name });
const url = (): Command<unknown> =>
  elicitUrl('ask', { message: 'Pay', url: 'https://pay.example' });
const model = (): Command<unknown> => sample('ask', { messages: [], maxTokens: 9 });
const root = (uri: string): ClientAnswer => answered({ roots: [{ uri, name: 'r' }] });

describe('a repeated answer', () => {
  it.each([
    ['a form', form, accepted({ name: 'Ada' }), accepted({ name: 'Bob' })],
    [
      'a form that looks like a tag',
      form,
      accepted({ name: '{"$":"d"}' }),
      accepted({ name: '{"$":"e"}' }),
    ],
    ['a declined form', form, refused(), refused('cancel')],
    ['a URL', url, answered({ action: 'accept' }), refused()],
    ['roots', () => listRoots('ask'), root('file:///a'), root('file:///b')],
    ['a sample', model, said('yes'), said('no')],
  ])('[W4] is compared with the previous answer: %s', async (_, make, answer, other) => {
    const program = sagaOf(function* () {
      let value: unknown;
      try {
        value = yield* make();
      } catch (error) {
        if (!(error instanceof ElicitationRefused)) throw error;
      }
      // What a body does to a value leaves the recorded answer as it is.
      if (typeof value === 'object' && value !== null)
        Object.assign(value, { name: 'changed', changed: 1 });
      yield* ask('last');
      return 'done';
    });
    const first = suspended(await start(program, {}));
    const again = async (state: ProgramState, answers: Answers): Promise<Outcome> =>
      turn(program, state, answers);
    const { state } = suspended(await again(first.state, { ask: answer }));
    // The structure has the fingerprint of the question, and no digest of the answer.
    expect(state.structure.split(',')).toHaveLength(2);
    expect(suspended(await again(state, { ask: answer })).ignored).toEqual([]);
    await expect(again(state, { ask: other })).rejects.toBeInstanceOf(AnswerConflict);
    const result = 'result' in answer ? answer.result : null;
    const more = { result: { ...(result as object), extra: 1 }, provenance: 'client' } as const;
    await expect(again(state, { ask: more })).rejects.toBeInstanceOf(AnswerConflict);
    // More than the journal holds is compared by its digest.
    const extended = suspended(await again(first.state, { ask: more }));
    expect(suspended(await again(extended.state, { ask: more })).ignored).toEqual([]);
    await expect(again(extended.state, { ask: other })).rejects.toBeInstanceOf(AnswerConflict);
  });
});
