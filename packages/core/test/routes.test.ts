import type { Answerer } from '../src/model/answerer.ts';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  allSettled,
  call,
  ClientCannot,
  elicit,
  elicitUrl,
  info,
  listRoots,
  race,
  saga,
  sample,
  step,
  StepError,
  type Json,
  type Saga,
} from '../src/index.ts';
import type { Question, Route } from '../src/model/question.ts';
import type { Runtime } from '../src/model/runtime.ts';
import type { SampleResult } from '../src/model/client-step.ts';
import type { Steps } from '../src/model/command.ts';
import {
  accepted,
  answered,
  completed,
  failed,
  said,
  start,
  suspended,
  turn,
} from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type RuntimeMembers, type TurnSettings } from './support/world.ts';

const Target = z.object({ target: z.string(), count: z.number().default(1) });
const params = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'hello' } }],
  maxTokens: 5,
};
const spoken = (text: string): SampleResult => ({
  role: 'assistant',
  content: { type: 'text', text },
  model: 'm',
});

/** Every question of a turn goes the same way. */
const routed = (route: Route, replace: RuntimeMembers = {}): TurnSettings => ({
  replace: { route: () => route, ...replace },
});
const asksFirst = (): Saga<undefined, undefined> =>
  sagaOf(function* () {
    const { target, count } = yield* elicit('target', {
      message: 'Where?',
      schema: Target,
      fallback: { target: 'staging' },
    });
    const done = yield* step('ship', () => `${target} ${count}`);
    return done;
  });

describe('a question that the client does not support', () => {
  it('[W3] uses the fallback of its author, parsed by the schema, and is not sent to the client', async () => {
    const world = new World();
    expect(completed(await start(asksFirst(), {}, world, routed('fallback')))).toBe('staging 1');
    expect(world.events.map(({ type, path }) => `${type} ${path}`)).toEqual([
      'started target',
      'succeeded target',
      'started ship',
      'succeeded ship',
    ]);
  });

  it('[W3] runs a fallback function once, with the context of a server step', async () => {
    const calls: unknown[] = [];
    const program = sagaOf(function* () {
      const outcome = yield* elicit.outcome('target', {
        message: 'Where?',
        schema: Target,
        fallback: async ({ services, signal, attempt, idempotencyKey }) => {
          calls.push([services, signal.aborted, attempt, idempotencyKey]);
          return { target: 'a', count: 2 };
        },
      });
      yield* elicitUrl('open', { message: 'Open', url: 'https://example.com' });
      return JSON.stringify(outcome);
    });
    const settings = {
      services: 'env',
      replace: { route: ({ hasFallback }: Question): Route => (hasFallback ? 'fallback' : 'ask') },
    };
    const first = suspended(await start(program, {}, undefined, settings));
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(['open']);
    const opened = answered({ action: 'accept' });
    expect(completed(await turn(program, first.state, { open: opened }, undefined, settings))).toBe(
      '{"action":"accept","content":{"target":"a","count":2}}',
    );
    expect(calls).toEqual([['env', false, 1, 'do:target']]);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw Object.assign(new Error('no'), { name: 'NotFound', code: 'gone' });
      },
      'NotFound gone',
    ],
    ['rejects', () => Promise.reject(new RangeError('no')), 'RangeError step_failed'],
    ['does not fit', () => ({ target: 5 }), 'TypeError step_failed'],
    ['is nothing', () => undefined, 'TypeError step_failed'],
    ['cannot be sent', () => ({ target: 5n }), 'TypeError step_failed'],
  ])('[W3] is a StepError if the fallback %s', async (_, fallback, expected) => {
    const program = sagaOf(function* () {
      try {
        yield* elicit('target', { message: 'Where?', schema: Target, fallback: fallback as never });
      } catch (error) {
        expect(error).toBeInstanceOf(StepError);
        const { name, code, stepId } = error as StepError;
        const { target } = yield* elicit('again', { message: 'Where?', schema: Target });
        return `${name} ${code} ${stepId} ${target}`;
      }
      return '';
    });
    const route = ({ hasFallback }: Question): Route => (hasFallback ? 'fallback' : 'ask');
    const first = suspended(await start(program, {}, undefined, { replace: { route } }));
    const last = await turn(program, first.state, { again: accepted({ target: 'x' }) });
    expect(completed(last)).toBe(`${expected} target x`);
  });

  it('[W3] is sampled by the host, with the checks of a client answer', async () => {
    const samples: unknown[] = [];
    const program = sagaOf(function* () {
      const one = yield* sample('one', params);
      const two = yield* allSettled([sample('two', params), sample('three', params)]);
      yield* elicit('ok', { message: 'Ok?', schema: Target });
      return JSON.stringify([
        one,
        two.map((each) => (each.status === 'rejected' ? each.reason : each.value)),
      ]);
    });
    const replace: RuntimeMembers = {
      route: ({ need }) => (need === 'sampling' ? 'host' : 'ask'),
      sample: (asked, { services, signal, idempotencyKey }) => {
        samples.push([asked, services, signal.aborted, idempotencyKey]);
        if (idempotencyKey === 'do:two') throw Object.assign(new Error('no'), { code: 429 });
        return idempotencyKey === 'do:one' ? spoken('hi') : ({ role: 'assistant' } as never);
      },
    };
    const first = suspended(await start(program, {}, undefined, { services: 1, replace }));
    const last = await turn(program, first.state, { ok: accepted({ target: 'x' }) });
    const [one, two] = JSON.parse(completed(last) as string) as [
      unknown,
      { name: string; code: unknown }[],
    ];
    expect(one).toEqual(spoken('hi'));
    expect(two.map(({ name, code }) => [name, code])).toEqual([
      ['Error', 429],
      ['TypeError', 'step_failed'],
    ]);
    expect(samples.map((each) => (each as unknown[])[3])).toEqual(['do:one', 'do:two', 'do:three']);
    expect(samples[0]).toEqual([params, 1, false, 'do:one']);
  });

  it('[W3] throws ClientCannot if no source can answer, also on replay', async () => {
    const program = sagaOf(function* () {
      const seen: unknown[] = [];
      const steps = [
        elicit('form', { message: 'm', schema: Target }),
        elicitUrl('url', { message: 'm', url: 'https://example.com' }),
        sample('model', params),
        listRoots('roots'),
      ] as const;
      for (const one of steps) {
        try {
          yield* one;
        } catch (error) {
          expect(error).toBeInstanceOf(ClientCannot);
          const { code, need, stepId, message, public: isPublic } = error as ClientCannot;
          seen.push([code, need, stepId, message, isPublic]);
        }
      }
      yield* elicit('last', {
        message: 'last',
        schema: Target,
        answeredBy: ['client', 'fallback'],
      });
      return JSON.stringify(seen);
    });
    const route = ({ answeredBy }: Question): Route =>
      answeredBy === undefined ? 'cannot' : 'ask';
    const first = suspended(await start(program, {}, undefined, { replace: { route } }));
    const last = completed(await turn(program, first.state, { last: accepted({ target: '' }) }));
    expect(JSON.parse(last as string)).toEqual([
      [
        'client_cannot',
        'elicitation',
        'form',
        "'form' cannot be asked: the client offers no elicitation for this call.",
        true,
      ],
      [
        'client_cannot',
        'elicitation.url',
        'url',
        "'url' cannot be asked: the client offers no elicitation by URL for this call.",
        true,
      ],
      [
        'client_cannot',
        'sampling',
        'model',
        "'model' cannot be asked: the client offers no sampling for this call.",
        true,
      ],
      [
        'client_cannot',
        'roots',
        'roots',
        "'roots' cannot be asked: the client offers no roots for this call.",
        true,
      ],
    ]);
  });

  it.each<[string, Route]>([
    ['fallback', 'fallback'],
    ['host', 'host'],
  ])('[W3] is not routed to the %s if it does not exist', async (_, route) => {
    const program = sagaOf(function* () {
      yield* elicit('form', { message: 'm', schema: Target });
      return '';
    });
    expect(failed(await start(program, {}, undefined, routed(route)))).toBeInstanceOf(ClientCannot);
  });

  it('[W3] asks the host for a route once per turn, and not on replay', async () => {
    const asked: Question[] = [];
    const replace: RuntimeMembers = {
      route: (question) => {
        asked.push(question);
        return 'ask';
      },
    };
    const program = sagaOf(function* () {
      yield* elicit('a', {
        message: 'm',
        schema: Target,
        answeredBy: ['client', 'fallback'],
        fallback: { target: '' },
      });
      yield* all({
        b: elicitUrl('b', {
          message: 'm',
          url: 'https://example.com',
          answeredBy: ['client', 'model', 'fallback'],
        }),
        c: sample('c', params),
        d: listRoots('d'),
        e: step('e', () => 1),
      });
      return '';
    });
    const first = suspended(await start(program, {}, undefined, { replace }));
    expect(asked).toEqual([
      { need: 'elicitation', answeredBy: ['client', 'fallback'], hasFallback: true },
    ]);
    asked.length = 0;
    suspended(
      await turn(program, first.state, { a: accepted({ target: '' }) }, undefined, { replace }),
    );
    expect(asked).toEqual([
      { need: 'elicitation.url', answeredBy: ['client', 'model', 'fallback'], hasFallback: false },
      { need: 'sampling', accept: undefined, hasFallback: false },
      { need: 'roots', accept: undefined, hasFallback: false },
    ]);
  });

  it('[W3] [W4] is routed again in each turn, and accepts an answer to the earlier question', async () => {
    const first = suspended(await start(asksFirst(), {}));
    expect(first.steps).toHaveLength(1);
    expect(completed(await turn(asksFirst(), first.state, {}, undefined, routed('fallback')))).toBe(
      'staging 1',
    );
    const answers = { target: accepted({ target: 'prod' }) };
    expect(
      completed(await turn(asksFirst(), first.state, answers, undefined, routed('fallback'))),
    ).toBe('prod 1');
    // A turn between, in which there was no time for the fallback.
    const looked = suspended(
      await turn(asksFirst(), first.state, {}, undefined, {
        ...routed('fallback'),
        budget: Number.NEGATIVE_INFINITY,
      }),
    );
    expect([looked.steps, looked.retryAfterMs]).toEqual([[], 0]);
    expect(
      completed(await turn(asksFirst(), looked.state, answers, undefined, routed('cannot'))),
    ).toBe('prod 1');
    expect(
      failed(await turn(asksFirst(), looked.state, {}, undefined, routed('cannot'))),
    ).toBeInstanceOf(ClientCannot);
  });

  it('[W4] accepts a repeated answer with the same content', async () => {
    const first = suspended(
      await start(
        sagaOf(function* () {
          const { target } = yield* elicit('a', {
            message: 'm',
            schema: Target,
            fallback: { target: 'x' },
          });
          yield* elicit('b', { message: 'm', schema: Target });
          return target;
        }),
        {},
        undefined,
        { replace: { route: ({ hasFallback }) => (hasFallback ? 'fallback' : 'ask') } },
      ),
    );
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(['b']);
    expect(first.state.client).not.toContain('x');
    expect(first.state.server).toContain('x');
  });
});

describe('a question that the host answers while its branch ends', () => {
  const ended = (log: string[], world: World): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const slow = function* () {
        try {
          yield* elicit('slow', {
            message: 'm',
            schema: Target,
            fallback: async ({ signal }) => {
              log.push('begun');
              await world.gate(signal);
              await world.gate();
              log.push(`ended ${String(signal.aborted)}`);
              return { target: 'x' };
            },
          });
        } finally {
          log.push('left');
        }
      };
      const { winner } = yield* race({ slow: slow(), fast: step('fast', () => 1) });
      log.push(`won ${winner}`);
      yield* elicit('last', { message: 'm', schema: Target });
      return winner;
    });

  it('[W3] [U3] is aborted, awaited, and withdrawn, also on replay', async () => {
    const world = new World();
    const log: string[] = [];
    const route = ({ hasFallback }: Question): Route => (hasFallback ? 'fallback' : 'ask');
    const first = suspended(await start(ended(log, world), {}, world, { replace: { route } }));
    expect(log).toEqual(['begun', 'ended true', 'left', 'won fast']);
    expect(first.state.structure).toContain('"wslow/slow"');
    log.length = 0;
    const last = await turn(
      ended(log, world),
      first.state,
      { last: accepted({ target: '' }) },
      world,
    );
    expect(completed(last)).toBe('fast');
    expect(log).toEqual(['left', 'won fast']);
  });

  it('[W3] leaves no entry if the client was asked', async () => {
    const world = new World();
    const log: string[] = [];
    const first = suspended(await start(ended(log, world), {}, world));
    expect(log).toEqual(['left', 'won fast']);
    expect(first.state.structure).not.toContain('slow/slow');
    const last = await turn(
      ended(log, world),
      first.state,
      { last: accepted({ target: '' }) },
      world,
    );
    expect(completed(last)).toBe('fast');
  });
});

describe('the provenance of an answer', () => {
  const question = (answerers?: readonly Answerer[]): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const { target } = yield* elicit('target', {
        message: 'Where?',
        schema: Target,
        ...(answerers === undefined ? {} : { answeredBy: answerers }),
      });
      const { answeredBy } = yield* info();
      return `${target} by ${answeredBy('target')}`;
    });
  const byModel = {
    result: { action: 'accept', content: { target: 'x' } },
    provenance: 'model' as const,
  };
  const reason = 'this question must be answered by the user, not by the model';

  it('[T14] is refused if the host does not accept it, and the question is asked again', async () => {
    const heard: unknown[] = [];
    const accepts: Runtime['questions']['accepts'] = (provenance, asked) => {
      heard.push([provenance, asked]);
      return provenance === 'client';
    };
    const { state } = suspended(await start(question()));
    const again = suspended(
      await turn(question(), state, { target: byModel }, undefined, { replace: { accepts } }),
    );
    expect(again.ignored).toEqual([{ stepId: 'target', why: 'not accepted' }]);
    expect(again.steps).toMatchObject([{ stepId: 'target', reason }]);
    expect(again.accepted).toBe(0);
    expect(heard).toEqual([
      ['model', { need: 'elicitation', answeredBy: undefined, hasFallback: false }],
    ]);
    const last = await turn(
      question(),
      again.state,
      { target: accepted({ target: 'y' }) },
      undefined,
      {
        replace: { accepts },
      },
    );
    expect(completed(last)).toBe('y by client');
  });

  it('[T14] is never a model if the author requires an answer of the client', async () => {
    const { state } = suspended(await start(question(['client', 'fallback'])));
    const again = suspended(
      await turn(question(['client', 'fallback']), state, { target: byModel }),
    );
    expect(again.steps).toMatchObject([{ stepId: 'target', reason }]);
  });

  it('[T14] may be a model if the host allows it, and the body can read the provenance', async () => {
    const { state } = suspended(await start(question(['client', 'model'])));
    expect(completed(await turn(question(['client', 'model']), state, { target: byModel }))).toBe(
      'x by model',
    );
  });

  it('[T14] can be read by the body for each earlier question of its scope, also on replay', async () => {
    const child = saga({ name: 'child', version: '1' }, function* () {
      yield* elicit('a', { message: 'm', schema: Target, fallback: { target: 'f' } });
      const { answeredBy } = yield* info();
      return `${answeredBy('a')} ${answeredBy('b')} ${answeredBy('child/a')}`;
    });
    const program = sagaOf(function* () {
      const { answeredBy, ...plain } = yield* info();
      const facts = yield* info();
      const seen: unknown[] = [answeredBy('a'), Object.keys(facts), Object.keys(plain)];
      yield* elicit('a', { message: 'm', schema: Target });
      seen.push(answeredBy('a'), answeredBy('a#2'));
      seen.push(yield* call(child, {}), answeredBy('child/a'));
      yield* sample('model', params);
      yield* elicit.outcome('a', { message: 'm', schema: Target });
      seen.push(answeredBy('a#2'), answeredBy('model'), answeredBy('b'));
      yield* elicit('b', { message: 'm', schema: Target });
      const input = yield* step('facts', (of) => Object.keys(of.input), {
        input: facts as unknown as { [key: string]: Json },
      });
      return JSON.stringify([seen, input]);
    });
    const replace: RuntimeMembers = {
      route: ({ need, hasFallback }) =>
        need === 'sampling' ? 'host' : hasFallback ? 'fallback' : 'ask',
      sample: () => spoken('hi'),
    };
    const settings = { replace, capabilities: {} };
    let outcome = await start(program, {}, undefined, settings);
    const answers = {
      a: accepted({ target: '' }),
      'a#2': answered({ action: 'decline' }),
      b: byModel,
    };
    for (let number = 0; outcome.status === 'suspended'; number += 1) {
      const { stepId } = outcome.steps[0] as { stepId: keyof typeof answers };
      const given = {
        [stepId]: { ...answers[stepId], result: { action: 'accept', content: { target: '' } } },
      };
      outcome = await turn(program, outcome.state, given, undefined, settings);
      if (number > 5) throw new Error('it does not end');
    }
    const keys = ['sagaId', 'turn', 'tokenBytes', 'capabilities', 'continueAsSuggested'];
    expect(JSON.parse(completed(outcome) as string)).toEqual([
      [
        null,
        keys,
        keys,
        'client',
        null,
        'server undefined server',
        'server',
        'client',
        'server',
        null,
      ],
      keys,
    ]);
  });
});

describe('the requirements of a saga for its clients', () => {
  const body = function* (): Steps<string> {
    yield* info();
    return '';
  };
  const options = { name: 'a', version: '1' };

  it('[W3] [T14] are members of its program', () => {
    expect(saga(options, body)).toMatchObject({
      needs: [],
      task: undefined,
    });
    const told = {
      needs: ['elicitation.url', 'roots'],
      answeredBy: ['client', 'model', 'fallback'],
      task: 'require',
    } as const;
    expect(saga({ ...options, ...told }, body)).toMatchObject(told);
  });

  it.each<[string, object]>([
    ['needs', { needs: ['elicit'] }],
    ['needs', { needs: 'sampling' }],
    ['answeredBy', { answeredBy: true }],
    ['answeredBy', { answeredBy: [] }],
    ['answeredBy', { answeredBy: ['client', 'client'] }],
    ['answeredBy', { answeredBy: ['model'] }],
    ['task', { task: 'always' }],
  ])('[W3] are checked when it is defined: %s %j', (name, wrong) => {
    expect(() => saga({ ...options, ...wrong }, body)).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => saga({ ...options, ...wrong }, body)).toThrow(name);
  });

  it.for([
    [['server']],
    [['client', 'client']],
    [['model', 'client']],
    [['model']],
    [[]],
    ['client'],
  ])('[T14] are rejected if they are answered by %j', ([given]) => {
    const answeredBy = given as never;
    const rejected = expect.objectContaining({ code: 'authoring_error' }) as Error;
    expect(() => elicit('a', { message: 'm', schema: Target, answeredBy })).toThrow(rejected);
    const page = { message: 'm', url: 'https://example.com', answeredBy };
    expect(() => elicitUrl('a', page)).toThrow(rejected);
    expect(() => sample('a', params, { answeredBy })).toThrow(rejected);
  });

  it('[W3] keep a sampled answer of the client, although the host could sample by then', async () => {
    const program = sagaOf(function* () {
      const { content } = yield* sample('model', params);
      return 'text' in content ? content.text : '';
    });
    const { state } = suspended(await start(program));
    expect(
      completed(await turn(program, state, { model: said('hi') }, undefined, routed('host'))),
    ).toBe('hi');
  });
});
