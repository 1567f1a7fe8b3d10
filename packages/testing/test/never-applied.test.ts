import { crashEverywhere, testHost, testSaga } from '@mcp-saga/testing';
import { checkpoint, elicit, sample, saga, step } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf } from './support/error-of.ts';

const bake = saga({ name: 'bake', version: '1' }, function* () {
  const { id } = yield* step('charge', ({ idempotencyKey }) => ({ id: idempotencyKey }), {
    compensate: ({ stepKey }) => void stepKey,
  });
  const { date } = yield* elicit('date', {
    message: 'When?',
    schema: z.object({ date: z.string() }),
  });
  yield* checkpoint();
  return `${id} ${date}`;
});
const baked = testSaga(bake).on.elicit('date', { date: 'today' });
const wrong = new Error('wrong');

describe('a script with a fault that never applies', () => {
  it.each([
    [
      'a step fails',
      baked.fail.step('charg', wrong),
      ".fail.step('charg', new Error('wrong'))   (did you mean 'charge'?)",
    ],
    [
      'an undo fails',
      baked.fail.undo('charge', wrong),
      ".fail.step('~charge', new Error('wrong'))   ('charge' was not undone)",
    ],
    ['a step times out', baked.timeout.step('oven'), ".timeout.step('oven')   (run were: charge)"],
    [
      'a response of a step is lost',
      baked.lose.step('Charge'),
      ".lose.step('Charge')   (did you mean 'charge'?)",
    ],
    [
      'a response is lost',
      baked.lose.response(9),
      '.lose.response(9)   (the responses were those of turns 1, 2, 3, 4)',
    ],
    ['the process dies', baked.crash.after('bake'), ".crash.after('bake')   (run were: charge)"],
    [
      'it dies at a later run',
      baked.crash.before('charge', { run: 2 }),
      "{ run: 2 })   ('charge' is a step, and its code ran once)",
    ],
    [
      'a user refuses',
      baked.refuse.elicit('dat'),
      ".refuse.elicit('dat')   (did you mean 'date'?)",
    ],
    [
      'a client fails',
      baked.fail.client('x', 'no'),
      ".fail.client('x', 'no')   (asked were: date)",
    ],
    [
      'it is cancelled',
      baked.cancel.at('charge'),
      ".cancel.at('charge')   ('charge' is a step, and its code ran once)",
    ],
    [
      'a client cannot',
      baked.deny.client('sampling'),
      ".deny.client('sampling')   (no step needed it)",
    ],
  ])('fails if %s', async (_, script, line) => {
    const { code, message } = await errorOf(script.run());
    expect(code).toBe('script');
    expect(message).toMatch(
      /^This line of the script never applied, so the run does not test the fault/,
    );
    expect(message).toContain(line);
    expect(message).toContain('completed: "do:charge today"');
  });

  it('fails an exploration that starts from it, too', async () => {
    const { message } = await errorOf(
      crashEverywhere(baked.fail.step('charg', wrong).timeout.step('x')),
    );
    expect(message).toMatch(/^These lines of the script never applied/);
  });

  it('runs if a later rule replaces the fault, or if the fault applies zero times', async () => {
    const one = await baked.fail.step('charge', wrong).timeout.step('charge').run();
    expect(one.error).toMatchObject({ code: 'timeout' });
    const none = await baked.fail
      .step('charge', wrong, { times: 0 })
      .refuse.elicit('date')
      .on.elicit('date', { date: 'now' })
      .run();
    expect(none.result).toBe('do:charge now');
  });

  it('runs if a fault applies less often than allowed, with unused answers', async () => {
    const run = await baked.fail.step('charge', wrong, { times: 5 }).run();
    expect(run).toMatchObject({ status: 'failed', warnings: [] });
  });
});

describe('an unused answer', () => {
  it('adds a warning to a run without faults', async () => {
    const run = await baked.on.sample('date', 'x').on.step('charg', { id: 'c' }).run();
    expect(run.warnings).toEqual([
      "This line of the script was never needed: .on.sample('date', 'x') ('date' is a question: elicit)",
      "This line of the script was never needed: .on.step('charg', { id: 'c' }) (did you mean 'charge'?)",
    ]);
  });

  it('is one answer of several to a question that is repeated', async () => {
    const twice = saga({ name: 'twice', version: '1' }, function* () {
      yield* sample('word', { messages: [], maxTokens: 9 });
      return (yield* sample('word', { messages: [], maxTokens: 9 })).model;
    });
    const run = await testSaga(twice).on.sample('word', 'a').on.sample('word#2', 'b').run();
    expect(run.warnings).toEqual([]);
  });
});

describe('a connection cut that never happens', () => {
  const answers = { date: { date: 'today' } };

  it('fails the call that it was for', async () => {
    const host = testHost({ sagas: [bake] }).cutAfter('chargee');
    const { code, message } = await errorOf(host.client({ answers }).call('bake'));
    expect(code).toBe('script');
    expect(message).toBe(
      "cutAfter('chargee') never cut a connection: step 'chargee' did not run. Did you mean 'charge'? Steps that ran: charge.",
    );
  });

  it('fails when the host closes after too few requests', async () => {
    const host = testHost({ sagas: [bake] }).cutAfter(99);
    const client = host.client({ answers });
    await client.call('bake');
    const { message } = await errorOf(host.close());
    expect(message).toMatch(
      /^cutAfter\(99\) never cut a connection: request 99 was not sent. Requests sent: \d+\.$/,
    );
  });

  it('may belong to another of two concurrent calls', async () => {
    const host = testHost({ sagas: [bake] }).cutAfter('charge', { times: 1 });
    const client = () => host.client({ answers });
    const results = await Promise.all([client().call('bake'), client().call('bake')]);
    expect(results).toHaveLength(2);
    await host.close();
  });
});
