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

const ordered = saga({ name: 'ordered', version: '1', reuse: 'ok' }, function* () {
  const { date } = yield* elicit('date', { message: 'When?', schema: When });
  yield* step('price', ({ idempotencyKey }) => idempotencyKey);
  yield* step('bake', ({ idempotencyKey }) => idempotencyKey);
  yield* sleep(259_200_000);
  return date;
});
const script = testSaga(ordered).on.elicit('date', { date: '2030-02-01' });

describe('an error message of the test kit', () => {
  it('shows the rejected answer of a fork, not the answer of the script', async () => {
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

  it('shows both texts of a question that changes', async () => {
    let asked = 0;
    const varies = (text: string, choices: boolean) =>
      saga({ name: 'varies', version: '1' }, function* () {
        asked += 1;
        const Day = z.object({ date: choices ? z.enum(['x', `No. ${asked}`]) : z.string() });
        const { date } = yield* elicit('date', {
          message: `${text}${choices ? '' : asked}`,
          schema: Day,
        });
        return date;
      });
    const answered = async (choices: boolean): Promise<string> => {
      asked = 0;
      const run = testSaga(varies('No. ', choices)).on.elicit('date', { date: 'x' }).run();
      return (await errorOf(run)).message;
    };
    expect(await answered(false)).toContain(
      'First it asked:\n\n    No. 1\n\nNow it asks:\n\n    No. 2',
    );
    expect(await answered(true)).toContain('The text is the same, but other parameters differ.');
  });

  it('lists each cause of failing cases once', async () => {
    const { message } = await errorOf(failEverywhere(script, { harmless: ['price'] }));
    expect(message).toMatch(/^When 'bake' times out: the outcome of 'bake' is unknown/);
    expect(message).toContain(
      "2 of 6 cases fail.\n\nThe same problem occurs in:\n\n    When 'bake' has its effect",
    );
    const both = await errorOf(failEverywhere(script));
    expect(both.message).toMatch(/The same problem occurs in:\n\n {4}When 'bake'/);
    expect(both.message).toContain(
      "Other problems occur in:\n\n    When 'price' times out (and 1 more):\n        the outcome of 'price' is unknown",
    );
  });

  it('shows the complete message of an error in a trace, on one line', async () => {
    const long = `${'The card issuer rejected the payment. '.repeat(6)}\nCall the bank.`;
    const run = await script.fail.step('bake', new Error(long)).run();
    const [failed] = run.trace.lines.filter((line) => line.startsWith('failed bake'));
    expect(failed).toBe(`failed bake: Error: ${long.replace(' \n', ' ')}`);
    expect(String(run.trace)).toContain('failed: Error: The card issuer');
    expect(run).toMatchSagaTrace(String(run.trace));
  });

  it('formats a long wait in days, hours, and minutes', () => {
    const trace = new Trace();
    trace.push(
      { type: 'waited', ms: 259_200_000, turn: 1 },
      { type: 'waited', ms: 3_661_500, turn: 1 },
    );
    trace.push({ type: 'waited', ms: 59_999, turn: 1 });
    expect(trace.lines).toEqual([
      'waited 259200000 ms (3 d)',
      'waited 3661500 ms (1 h 1 min 1.5 s)',
      'waited 59999 ms',
    ]);
  });

  it('explains how to pass arguments to a property', async () => {
    const takes = saga(
      { name: 'takes', version: '1', input: z.object({ n: z.number() }) },
      function* () {
        yield* sleep(1);
        return 'done';
      },
    );
    const { errorInstance } = await fc.check(sagaProperty(takes, {}), { seed: 7, numRuns: 1 });
    expect(String(errorInstance)).toContain(
      'Pass the arguments of the saga as `input`: got none. Write testSaga',
    );
    expect(String(errorInstance)).toContain('sagaProperty(saga, { input: fc.record({ … }) })');
  });
});

describe('the result of a run without a result', () => {
  it('throws an error with the error of the saga and the trace', async () => {
    const run = await script.fail.step('bake', new Error('The oven is cold.')).run();
    const thrown = await errorOf(Promise.resolve().then(() => run.result));
    expect(thrown.code).toBe('no_result');
    expect(thrown.cause).toBe(run.error);
    expect(thrown.message).toContain('The oven is cold.');
    expect(thrown.message).toContain('failed bake');
  });

  it('throws an error with the reason of a refused request', async () => {
    const refuses = saga({ name: 'refuses', version: '1' }, function* () {
      const { date } = yield* elicit('date', { message: 'When?', schema: When });
      return date;
    });
    const run = await testSaga(refuses).on.elicit('date', { date: '2030-02-01' }).run();
    const fork = await run.at('date').fork({ date: '2030-02-02' });
    expect(fork.status).toBe('refused');
    const thrown = await errorOf(Promise.resolve().then(() => fork.result));
    expect(thrown.code).toBe('no_result');
    expect(thrown.message).toContain('used');
  });
});

describe('a misspelled ID', () => {
  it('gets a suggestion from run.at', async () => {
    const run = await script.run();
    const { code, message } = await errorOf(Promise.resolve().then(() => run.at('daet')));
    expect(code).toBe('script');
    expect(message).toContain("Did you mean 'date'?");
  });

  it('gets a suggestion if a client of a test host answers it', async () => {
    const host = testHost({ sagas: [ordered] });
    const client = host.client({ answers: { dates: { date: '2030-02-01' } } });
    const { code, message } = await errorOf(client.call('ordered'));
    expect(code).toBe('unanswered');
    expect(message).toContain("The client answers 'dates'. Did you mean 'date'?");
  });

  it('gets a suggestion from toHaveRun', async () => {
    const run = await script.run();
    expect(() => expect(run).toHaveRun('bakes')).toThrow("Did you mean 'bake'?");
  });
});

it('prints a script with a placeholder for the variable of the saga', () => {
  expect(String(script)).toContain("testSaga(yourSaga /* 'ordered' */)");
  const named = saga({ name: 'release notes', version: '1' }, function* () {
    yield* sleep(1);
    return 'done';
  });
  expect(testSaga(named, { input: { id: 1 } }).source).toBe(
    "testSaga(yourSaga /* 'release notes' */, { input: { id: 1 } })",
  );
});

it('suggests an answer with the defaults of a form', async () => {
  const counted = saga({ name: 'counted', version: '1' }, function* () {
    const schema = z.object({
      count: z.int().default(20),
      name: z.string(),
      size: z.string().optional(),
    });
    const { count } = yield* elicit('what', { message: 'What?', schema });
    return String(count);
  });
  const { code, message } = await errorOf(testSaga(counted).run());
  expect(code).toBe('unanswered');
  expect(message).toContain("{ count: 20, name: 'name' }");
});

describe('matchers', () => {
  it('match a trace as printed', async () => {
    const run = await script.run();
    expect(run).toMatchSagaTrace(String(run.trace));
  });

  it('show only the missing questions in the diff', async () => {
    const run = await testSaga(ordered).on.elicit('date', { date: '2030-02-01' }).run();
    const sides = (assertion: () => void): unknown => {
      try {
        assertion();
      } catch (error) {
        const { expected, actual } = error as {
          readonly expected?: unknown;
          readonly actual?: unknown;
        };
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

it('a client answers repetitions of a question by the ID of the question', async () => {
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
  const host = testHost({
    sagas: [machineSaga({ name: 'twice', version: '1', reuse: 'ok' }, machine)],
  });
  const client = host.client({ answers: { day: { date: '2030-02-01' } } });
  expect(JSON.stringify((await client.call('twice')).content)).toContain('asked twice');
  const one = { day: { date: 'x' }, 'day@2': 'decline' };
  const other = host.client({ answers: { ...one, day: { date: '2030-02-01' } } });
  expect(await other.call('twice')).toMatchObject({ isError: true });
});
