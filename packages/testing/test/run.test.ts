import { engineOf, type SagaEngine } from '@mcp-saga/server/internal';
import {
  all,
  checkpoint,
  continueAs,
  elicit,
  elicitUrl,
  info,
  listRoots,
  log,
  now,
  poll,
  progress,
  random,
  saga,
  sample,
  sleep,
  step,
  uuid,
  type Json,
  type Program,
  type Saga,
} from '@mcp-saga/server';
import type {
  ClientAnswer,
  EndRequest,
  Outcome,
  ProgramState,
  Runtime,
} from '@mcp-saga/server/internal';
import { testSaga } from '@mcp-saga/testing';
import '@mcp-saga/testing/vitest';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deploy } from './sagas/deploy.ts';
import { order } from './sagas/order.ts';
import { shop } from './sagas/shop.ts';
import { errorOf } from './support/error-of.ts';

beforeEach(() => shop.reset());

const Name = z.object({
  name: z.string().min(2),
  size: z.enum(['s', 'm']),
  tip: z.number().optional(),
});
const greet = saga({ name: 'greet', version: '1' }, function* () {
  const { name, size } = yield* elicit('name', {
    message: 'Who are you?\nBe honest.',
    schema: Name,
  });
  return `Hello ${name} (${size})`;
});

describe('a script', () => {
  it('without an answer to a question fails with a line to paste', async () => {
    const { code, message } = await errorOf(testSaga(greet).on.elicit('nam', { name: 'x' }).run());
    expect(code).toBe('unanswered');
    expect(message).toBe(
      [
        "No answer to 'name'. The saga 'greet' asks the user:",
        '',
        '    Who are you?',
        '    Be honest.',
        '',
        '    name: string from 2',
        '    size: one of "s", "m"',
        '    tip?: number',
        '',
        'Answer it in the test:',
        '',
        "    .on.elicit('name', { name: 'name', size: 's' })",
        '',
        "or refuse it: .refuse.elicit('name')",
        '',
        "The script answers 'nam'. Did you mean 'name'?",
      ].join('\n'),
    );
    // The suggested line is a valid answer.
    const run = await testSaga(greet).on.elicit('name', { name: 'name', size: 's' }).run();
    expect(run.result).toBe('Hello name (s)');
  });

  it('[W4] fails with the reason if the schema rejects an answer', async () => {
    const { code, message } = await errorOf(
      testSaga(greet).on.elicit('name', { name: 'x', size: 's' }).run(),
    );
    expect(code).toBe('answer_not_accepted');
    expect(message).toContain("The answer to 'name' was not accepted: name: Too small");
    expect(message).toContain('{"name":"x","size":"s"}');
    expect(message).toContain('name: string from 2');
  });

  it('[W4] may refuse with a function of the question', async () => {
    const answers = [{ name: 'x', size: 's' }, 'decline' as const];
    const run = await testSaga(greet)
      .on.elicit('name', () => answers.shift() ?? 'cancel')
      .run();
    expect(run.status).toBe('failed');
    expect(run.trace.lines).toContain('declined name');
  });

  it('[W4] may answer with a function, which runs again with the reason of a rejection', async () => {
    const run = await testSaga(greet)
      .on.elicit('name', ({ before, reason }) => ({
        name: before === 0 ? 'x' : 'Jo',
        size: reason === undefined ? 's' : 'm',
      }))
      .run();
    expect(run.result).toBe('Hello Jo (m)');
    expect(run.trace.lines).toContainEqual(
      expect.stringMatching(/^asked name again: name: Too small/),
    );
  });

  it('may decline, cancel, or answer with an error', async () => {
    const refused = await testSaga(greet).refuse.elicit('name').run();
    expect(refused.error).toMatchObject({ code: 'elicitation_refused', action: 'decline' });
    expect(refused).toMatchSagaTrace(
      'started greet\nasked name: Who are you? Be honest.\ndeclined name\nfailed: ElicitationRefused',
    );
    const dismissed = await testSaga(greet).refuse.elicit('name', 'cancel').run();
    expect(dismissed.error).toMatchObject({ action: 'cancel' });
    const failed = await testSaga(greet).fail.client('name', 'no screen').run();
    expect(failed.error).toMatchObject({ name: 'ClientError', message: 'no screen' });
  });

  it('answers repeated questions by a common ID, and one of them by its own ID', async () => {
    const twice = saga({ name: 'twice', version: '1', reuse: 'ok' }, function* () {
      const names: string[] = [];
      for (let n = 0; n < 3; n += 1) {
        names.push((yield* elicit('name', { message: `${n}?`, schema: Name })).name);
      }
      return names.join();
    });
    const run = await testSaga(twice)
      .on.elicit('name', ({ message }) => ({ name: `n${message}`, size: 's' }))
      .on.elicit('name#2', { name: 'two', size: 's' })
      .run();
    expect(run.result).toBe('n0?,two,n2?');
    expect((await run.at('name#2').fork({ name: 'xx', size: 'm' })).result).toBe('n0?,xx,n2?');
  });

  it('[W3] may remove a capability of the client', async () => {
    const run = await testSaga(deploy, { input: { service: 'web' } })
      .on.elicit('target', { target: 'staging' })
      .deny.client('sampling')
      .run();
    expect(run.error).toMatchObject({ code: 'client_cannot', need: 'sampling' });
  });

  it('[W3] fails if the client lacks a required capability', async () => {
    const needy = saga({ name: 'needy', version: '1', needs: ['sampling'] }, function* () {
      return (yield* sample('model', { messages: [], maxTokens: 5 })).model;
    });
    const run = await testSaga(needy).deny.client('sampling').run();
    expect(run.status).toBe('refused');
    expect(run).toMatchSagaTrace("started needy\nwas refused: 'needy' needs sampling");
  });

  it('answers pages, roots, and models', async () => {
    const tour = saga({ name: 'tour', version: '1' }, function* () {
      yield* elicitUrl('page', { message: 'Sign in', url: 'https://example.com/' });
      const roots = yield* listRoots('roots');
      const said = yield* sample('model', { messages: [], maxTokens: 5 });
      return `${roots[0]?.uri} ${said.model}`;
    });
    const run = await testSaga(tour)
      .on.url('page')
      .on.roots('roots', [{ uri: 'file:///a' }])
      .on.sample('model', {
        role: 'assistant',
        model: 'big',
        content: { type: 'text', text: 'hi' },
      })
      .run();
    expect(run.result).toBe('file:///a big');
    expect(run).toHaveAsked(['page', 'roots', 'model']);
    const { message } = await errorOf(testSaga(tour).run());
    expect(message).toContain(
      "sends the user to a page:\n\n    Sign in\n\nAnswer it in the test:\n\n    .on.url('page')",
    );
  });
});

describe('the simulated world of a run', () => {
  it('has a virtual clock, on which waits end at once', async () => {
    const nap = saga({ name: 'nap', version: '1' }, function* () {
      const before = yield* now();
      yield* sleep(90 * 60_000);
      return `${new Date(before).toISOString()} ${(yield* now()) - before}`;
    });
    const run = await testSaga(nap, { clock: new Date('2031-02-03T04:05:06Z') }).run();
    expect(run.result).toBe('2031-02-03T04:05:06.000Z 5400000');
    expect(run).toMatchSagaTrace('started nap\nwaited 5400000 ms\ncompleted');
  });

  it('draws the same values with the same seed, and others with another seed', async () => {
    const draw = saga({ name: 'draw', version: '1' }, function* () {
      return `${yield* random()} ${yield* uuid()} ${(yield* info()).sagaId}`;
    });
    const [one, same, other] = await Promise.all([
      testSaga(draw).run(),
      testSaga(draw).run(),
      testSaga(draw, { seed: 2 }).run(),
    ]);
    expect(same.result).toBe(one.result);
    expect(other.result).not.toBe(one.result);
  });

  it('passes a context and readable idempotency keys to steps', async () => {
    const seen: unknown[] = [];
    const look = saga({ name: 'look', version: '1' }, function* () {
      yield* step(
        'a',
        ({ services, idempotencyKey, input }) => void seen.push(services, idempotencyKey, input),
        { input: 7 },
      );
      yield* step('a', ({ idempotencyKey }) => void seen.push(idempotencyKey), { key: 'k' });
      return 'x';
    });
    const run = await testSaga(look, { services: { db: 1 } }).run();
    expect(run).toHaveRun('a', { times: 1 });
    expect(run).toHaveRun('a(k)', { times: 1 });
    expect(seen).toEqual([{ db: 1 }, 'do:a', 7, 'do:a(k)']);
  });

  it('replaces polls, and traces progress and logs', async () => {
    const build = saga({ name: 'build', version: '1' }, function* () {
      yield* progress(1, 2, 'building');
      const state = yield* poll('state', () => undefined as string | undefined, {
        every: 1_000,
        timeout: 60_000,
      });
      yield* log('info', { state });
      return state;
    });
    const run = await testSaga(build)
      .on.step('state', ({ attempt }) => (attempt === 3 ? 'green' : undefined))
      .run();
    expect(run).toMatchSagaTrace(`
      started build
      told progress 1/2 building
      polled state: not yet
      waited 1000 ms
      polled state: not yet
      waited 1000 ms
      polled state: "green"
      told log info {"state":"green"}
      completed: "green"
    `);
    expect(run).toHaveRun('state', { times: 3 });
  });

  it('waits for real work while the virtual clock stops', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const { real } = yield* all({
        real: step(
          'real',
          () => new Promise<string>((resolve) => void setTimeout(resolve, 30, 'done')),
          {
            timeout: 50,
          },
        ),
        other: step('other', () => 1, { retry: { attempts: 2, delay: 1_000, jitter: false } }),
      });
      return real;
    });
    const run = await testSaga(both).fail.step('other', new Error('no'), { times: 1 }).run();
    expect(run.result).toBe('done');
  });

  it('continues as another saga, whose step IDs end in @n', async () => {
    const count: Saga<z.ZodObject<{ n: z.ZodNumber }>, undefined> = saga(
      { name: 'count', version: '1', input: z.object({ n: z.number() }) },
      function* ({ n }) {
        const { size } = yield* elicit('go', { message: `${n}?`, schema: Name });
        yield* step('count', ({ idempotencyKey }) => idempotencyKey);
        if (n < 2) yield* continueAs(count, { n: n + 1 });
        return size;
      },
    );
    const run = await testSaga(count, { input: { n: 0 } })
      .on.elicit('go', { name: 'xx', size: 's' })
      .on.elicit('go@2', { name: 'xx', size: 'm' })
      .run();
    expect(run.result).toBe('m');
    expect(run).toHaveAsked(['go', 'go@1', 'go@2']);
    expect(run.effects.map(({ key }) => key)).toEqual(['do:count', 'do:count@1', 'do:count@2']);
  });

  it('reports a saga that does not end', async () => {
    const endless = saga({ name: 'endless', version: '1' }, function* () {
      for (;;) yield* checkpoint();
    });
    const { message } = await errorOf(testSaga(endless, { maxTurns: 5 }).run());
    expect(message).toContain("The saga 'endless' has not ended in 5 turns");
  });
});

describe('faults in a script', () => {
  const bought = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });

  it('[E1] repeat a request after a crash and after a dropped response', async () => {
    const run = await bought.crash.after('charge').crash.before('ship').lose.response(3).run();
    expect(run.result).toBe('On its way');
    expect(run.effects.map(({ id, runs }) => [id, runs])).toEqual([
      ['charge', 2],
      ['ship', 1],
      ['thank', 1],
    ]);
    expect(shop.charges.size).toBe(1);
    expect(run).toMatchSagaTrace(
      '…\ncrashed after charge\nran charge\n…\ncrashed before ship\n…\nlost the response\n…',
    );
  });

  it('[E3] lead to steps that could not be undone, which the run lists', async () => {
    const run = await bought.fail
      .step('ship', new Error('no truck'))
      .fail.undo('charge', new Error('bank closed'))
      .run();
    expect(run.uncompensated).toEqual(['charge']);
    expect(run).toHaveCompensated([]);
    expect(run).not.toLeaveNothingUncompensated();
    expect(run).toMatchSagaTrace(
      '…\nfailed to undo charge: Error: bank closed\nleft charge\nfailed: Error: no truck',
    );
  });

  it('[E6] include a cancellation at the given question', async () => {
    const run = await bought.cancel.at('sure', 'changed my mind').run();
    expect(run.error).toMatchObject({ code: 'saga_cancelled' });
    expect(run).toHaveCompensated(['charge']);
    expect(run.trace.lines).toContain('was cancelled: changed my mind');
  });

  it('apply the given number of times, and then the earlier fault applies', async () => {
    const run = await bought.fail
      .step('charge', new Error('one'), { times: 1 })
      .lose.step('charge', { times: 1 })
      .run();
    expect(
      run.trace
        .filter(({ type }) => type === 'failed')
        .map((entry) => 'error' in entry && String(entry.error)),
    ).toEqual([
      "OutcomeUnknown: The response of 'charge' was lost, as the script says.",
      'Error: one',
    ]);
    expect(run.status).toBe('completed');
  });
});

describe('a fork in a script', () => {
  const deployed = testSaga(deploy, { input: { service: 'web' }, store: false })
    .steps<{
      target: { target: 'staging' | 'production' };
      safety: string;
      release: { id: string };
    }>()
    .on.elicit('target', { target: 'staging' })
    .on.sample('safety', 'Yes')
    .on.step('release', { id: 'r1' });

  it('[E7] returns to a question and answers it differently', async () => {
    const run = await deployed.run();
    const fork = await run.at('target').fork({ target: 'production' });
    expect(fork.result).toBe('Released r1 to production.');
    expect(fork).toMatchSagaTrace(`
      started deploy
      asked target
      went back to target
      answered target: {"target":"production"}
      asked safety: Is deploying to production safe?
      …
    `);
    expect(run.result).toBe('Released r1 to staging.');
    const no = await run.at('safety').fork('No');
    expect(no.result).toBe('Not now.');
    expect((await run.back(2).fork('decline')).status).toBe('failed');
    expect((await fork.back(1).fork()).result).toBe('Released r1 to production.');
  });

  it('is rejected at unknown questions and turns', async () => {
    const run = await deployed.run();
    expect(() => run.at('release')).toThrow(
      "'release' was not asked. Questions of the run: target, safety.",
    );
    expect(() => run.back(3)).toThrow('back(1) to back(2)');
  });

  it('[E7] [T13] is refused by a guard, and gets the same response for the same request', async () => {
    const run = await testSaga(order, { input: { cents: 1 } })
      .on.elicit('sure', { sure: true })
      .run();
    const other = await run.at('sure').fork({ sure: false });
    expect(other.status).toBe('refused');
    expect(other).toMatchSagaTrace(
      '…\nwent back to sure\nanswered sure: {"sure":false}\nwas refused: used',
    );
    const same = await run.at('sure').fork();
    expect(same.result).toBe('On its way');
    expect(same).toMatchSagaTrace('…\nwent back to sure\ngot the stored response: nothing ran\n…');
    expect((await run.at('sure').cancel()).status).toBe('refused');
    expect(shop.charges.size).toBe(1);
  });
});

/** An engine of a class, which keeps its parts to itself. */
class DelegatingEngine implements SagaEngine {
  readonly #inner: SagaEngine;

  constructor(inner: SagaEngine) {
    this.#inner = inner;
  }

  begin(args: Json): Promise<ProgramState> {
    return this.#inner.begin(args);
  }
  advance(
    state: ProgramState,
    answers: ReadonlyMap<string, ClientAnswer>,
    runtime: Runtime,
    end?: EndRequest,
  ): Promise<Outcome> {
    return this.#inner.advance(state, answers, runtime, end);
  }
  asked(state: ProgramState): readonly string[] {
    return this.#inner.asked(state);
  }
  timeline(state: ProgramState): ReturnType<SagaEngine['timeline']> {
    return this.#inner.timeline(state);
  }
}

/** A program that is no generator saga. */
function delegating({ name, version, input, ...inner }: Program): Program {
  return {
    name,
    version,
    title: undefined,
    description: undefined,
    input,
    output: undefined,
    annotations: undefined,
    needs: [],
    task: undefined,
    previous: [],
    onMismatch: 'fail',
    engine: new DelegatingEngine(engineOf({ name, version, input, ...inner })),
  };
}

describe('a script without the arguments of its saga', () => {
  it.each<[string, object | undefined, string]>([
    ['has none', undefined, 'as `input`: got none. '],
    ['has other options', { seed: 2 }, 'as `input`: got none. '],
    ['has others', { input: { servise: 'web' } }, 'as `input`: got {"servise":"web"}. '],
  ])('fails with an error about `input` if it %s', async (_, options, told) => {
    const error: unknown = await testSaga(deploy, options as never)
      .run()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'script' });
    const { message } = error as Error;
    expect(message).toContain("Invalid arguments for 'deploy': service: expected string");
    expect(message).toContain(told);
    expect(message).toContain('testSaga(saga, { input: { … } })');
  });

  it('explains `input` if arguments are passed as options', () => {
    expect(() => testSaga(deploy, { target: 'web' } as never)).toThrow(
      /has no option 'target'.*The arguments of the saga are `input`\./,
    );
  });
});

describe('a program of another package', () => {
  it('is tested by its interface', async () => {
    const run = await testSaga(delegating(deploy), { input: { service: 'web' } })
      .on.elicit('target', { target: 'staging' })
      .on.sample('safety', 'Yes')
      .on.step('release', { id: 'r1' })
      .run();
    expect(run.result).toBe('Released r1 to staging.');
  });
});

describe('the warnings of a run', () => {
  it('report once what the author can change, and nothing that only a server has', async () => {
    const waits = saga({ name: 'waits', version: '1', task: 'prefer' }, function* () {
      const year = 365 * 24 * 3_600_000;
      yield* poll('later', ({ attempt }) => (attempt > 3 ? true : undefined), {
        every: 60_000,
        timeout: year,
      });
      return '';
    });
    const run = await testSaga(waits).run();
    expect(run.warnings).toEqual([expect.stringContaining("'later'")]);
  });
});

describe('a response that the store repeats', () => {
  it('[R1] has the time at which it was made first', async () => {
    const rests = saga({ name: 'rests', version: '1' }, function* () {
      yield* elicit('begin', { message: 'Begin?', schema: z.object({}) });
      // The turn waits in its request, for longer than clocks may differ.
      yield* step('pay', ({ idempotencyKey }) => idempotencyKey.length, {
        compensate: () => undefined,
      });
      for (let count = 0; count < 5; count += 1) yield* sleep('15s');
      const before = yield* now();
      yield* elicit('end', { message: 'End?', schema: z.object({}) });
      return `${(yield* now()) - before} ms`;
    });
    const script = testSaga(rests).on.elicit('begin', {}).on.elicit('end', {});
    const { result, points } = await script.run();
    const lost = await script.lose.response(2).run();
    expect([lost.result, lost.points.map(({ time }) => time)]).toEqual([
      result,
      points.map(({ time }) => time),
    ]);
  });
});
