import { failEverywhere, testHost, testSaga, Trace } from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import '@mcp-saga/testing/vitest';
import { elicit, saga, sleep, step } from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga } from '@mcp-saga/xstate';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { errorOf } from './support/error-of.ts';

const When = z.object({ date: z.iso.date() });

const ordered = saga({ name: 'ordered', version: '1', commitFirst: true, forks: 'accept' }, function* () {
  const { date } = yield* elicit('date', { message: 'When?', schema: When });
  yield* step('price', ({ idempotencyKey }) => idempotencyKey);
  yield* step('bake', ({ idempotencyKey }) => idempotencyKey);
  yield* sleep(259_200_000);
  return date;
});
const script = testSaga(ordered).on.elicit('date', { date: '2030-02-01' });

describe('what is said', () => {
  it('of an answer that is not accepted is what the fork sent, and not what the script says', async () => {
    const run = await script.run();
    const { code, message } = await errorOf(run.at('date').fork({ dat: 1 }));
    expect(code).toBe('answer_not_accepted');
    expect(message).toContain('The fork answers:\n\n    {"dat":1}');
    // A function that would answer it now is the script's, and not the fork's.
    const asking = await testSaga(ordered)
      .on.elicit('date', () => ({ date: '2030-02-01' }))
      .run();
    expect((await errorOf(asking.at('date').fork({ dat: 1 }))).message).toContain('{"dat":1}');
    const other = await errorOf(testSaga(ordered).on.elicit('date', { date: 'x' }).run());
    expect(other.message).toContain('The script answers:\n\n    {"date":"x"}');
  });

  it('of a question that varies is what it asked first, and what it asks now', async () => {
    let asked = 0;
    const varies = (text: string, titled: boolean) =>
      saga({ name: 'varies', version: '1' }, function* () {
        asked += 1;
        const Day = z.object({ date: z.string().meta({ title: titled ? `No. ${asked}` : 'Day' }) });
        const { date } = yield* elicit('date', { message: `${text}${titled ? '' : asked}`, schema: Day });
        return date;
      });
    const answered = async (titled: boolean): Promise<string> => {
      asked = 0;
      const run = testSaga(varies('No. ', titled)).on.elicit('date', { date: 'x' }).run();
      return (await errorOf(run)).message;
    };
    expect(await answered(false)).toContain('First it asked:\n\n    No. 1\n\nNow it asks:\n\n    No. 2');
    expect(await answered(true)).toContain('The text is the same: what else it asks with differs.');
  });

  it('of several causes is told one by one', async () => {
    const { message } = await errorOf(failEverywhere(script, { harmless: ['price'] }));
    expect(message).toMatch(/^When 'bake' times out: nobody knows whether 'bake' happened/);
    expect(message).toContain(
      "2 of 6 cases fail.\n\nThe same is wrong in:\n\n    When 'bake' has its effect",
    );
    const both = await errorOf(failEverywhere(script));
    expect(both.message).toMatch(/The same is wrong in:\n\n {4}When 'bake'/);
    expect(both.message).toContain(
      "Something else is wrong in:\n\n    When 'price' times out (and 1 more):\n        nobody knows whether 'price' happened",
    );
  });

  it('of a long wait can be read', () => {
    const trace = new Trace();
    trace.push({ type: 'waited', ms: 259_200_000, turn: 1 }, { type: 'waited', ms: 3_661_500, turn: 1 });
    trace.push({ type: 'waited', ms: 59_999, turn: 1 });
    expect(trace.lines).toEqual([
      'waited 259200000 ms (3 d)',
      'waited 3661500 ms (1 h 1 min 1.5 s)',
      'waited 59999 ms',
    ]);
  });

  it('of arguments that are missing from a property is how they are given to it', async () => {
    const takes = saga({ name: 'takes', version: '1', input: z.object({ n: z.number() }) }, function* () {
      yield* sleep(1);
      return 'done';
    });
    const { errorInstance } = await fc.check(sagaProperty(takes, {}), { seed: 7, numRuns: 1 });
    expect(String(errorInstance)).toContain('there is no `input` in them. Write testSaga');
    expect(String(errorInstance)).toContain('sagaProperty(saga, { input: fc.record({ … }) })');
  });

  it('of a dialect that there is not is which there are', () => {
    expect(() => testHost({ sagas: [ordered] }).client({ dialect: 'mrt' as never })).toThrow(
      "There is no dialect 'mrt'. There are 'saga methods', 'multi round-trip', 'push', ",
    );
  });
});

describe('matchers', () => {
  it('take a trace as it is printed', async () => {
    const run = await script.run();
    expect(run).toMatchSagaTrace(String(run.trace));
  });

  it('show of questions only those that are missing', async () => {
    const run = await testSaga(ordered).on.elicit('date', { date: '2030-02-01' }).run();
    const sides = (assertion: () => void): unknown => {
      try {
        assertion();
      } catch (error) {
        const { expected, actual } = error as { readonly expected?: unknown; readonly actual?: unknown };
        return { expected, actual };
      }
      return undefined;
    };
    expect(sides(() => expect(run).toHaveAsked(['date', 'colour']))).toEqual({
      expected: ['date', 'colour'],
      actual: ['date'],
    });
    expect(sides(() => expect(run).not.toHaveAsked(['date', 'colour']))).toEqual({
      expected: [],
      actual: ['date'],
    });
  });
});

it('a client answers the repetitions of a question as the question', async () => {
  const machine = setup({
    actors: { ask: elicitInMachine({ message: 'When?', schema: When }) },
  }).createMachine({
    id: 'twice',
    initial: 'first',
    states: {
      first: { invoke: { id: 'day', src: 'ask', onDone: 'second' } },
      second: { invoke: { id: 'day', src: 'ask', onDone: 'done' } },
      done: { type: 'final' },
    },
    output: () => 'asked twice',
  });
  const host = testHost({ sagas: [machineSaga({ name: 'twice', version: '1', forks: 'accept' }, machine)] });
  const client = host.client({ dialect: 'multi round-trip', answers: { day: { date: '2030-02-01' } } });
  expect(JSON.stringify((await client.call('twice')).content)).toContain('asked twice');
  const one = { day: { date: 'x' }, 'day@2': 'decline' };
  const other = host.client({ dialect: 'saga methods', answers: { ...one, day: { date: '2030-02-01' } } });
  expect(await other.call('twice')).toMatchObject({ isError: true });
});
