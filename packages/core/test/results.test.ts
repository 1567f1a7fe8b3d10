/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  call,
  elicit,
  ElicitationRefused,
  info,
  listRoots,
  now,
  poll,
  random,
  saga,
  SagaError,
  sample,
  step,
  StepError,
  uuid,
  type Schema,
} from '../src/index.ts';
import { decode, encode } from '../src/program-parts.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import {
  accepted,
  answered,
  completed,
  failed,
  refused,
  said,
  start,
  suspended,
  turn,
  type Answers,
} from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { endsAtCommits, World, type TurnSettings } from './support/world.ts';

/** What the body gets for a command, in the first run and in a replay of it. */
async function gotTwice(
  make: () => Command<unknown>,
  answers: Answers = {},
  settings?: TurnSettings,
): Promise<{ first: unknown; replayed: unknown }> {
  const got: unknown[] = [];
  const program = (): Program =>
    sagaOf(function* () {
      try {
        got.push(yield* make());
      } catch (error) {
        got.push(error);
      }
      yield* ask('end');
      return 'done';
    });
  const world = new World();
  let outcome = suspended(await start(program(), {}, world, settings));
  got.length = outcome.steps.some(({ stepId }) => stepId === 'end') ? got.length : 0;
  if (Object.keys(answers).length > 0) {
    outcome = suspended(await turn(program(), outcome.state, answers, world, settings));
  }
  expect(outcome.steps.map(({ stepId }) => stepId)).toEqual(['end']);
  completed(
    await turn(program(), outcome.state, { end: accepted({ word: 'w' }) }, world, settings),
  );
  expect(got).toHaveLength(2);
  return { first: got[0], replayed: got[1] };
}

/** All that a body could ask of an error. */
const facts = (error: unknown): unknown =>
  error instanceof Error
    ? {
        error: error instanceof SagaError,
        step: error instanceof StepError,
        type: error instanceof TypeError,
        own: error instanceof OwnError,
        name: error.name,
        message: error.message,
        code: (error as StepError).code,
        data: (error as StepError).data,
        stepId: (error as StepError).stepId,
        public: (error as StepError).public,
        keys: Object.keys(error),
        text: String(error),
      }
    : error;

class OwnError extends TypeError {
  override readonly name = 'OwnError';
  readonly code = 'E_OWN';
  readonly data = { at: new Date(5), big: 1n };
}

class Unreadable extends Error {
  override get message(): string {
    throw new Error('no message');
  }
  get code(): string {
    throw this;
  }
  get data(): string {
    throw undefined;
  }
}

const evil = (): object =>
  new Proxy(
    {},
    {
      get: () => {
        throw evil();
      },
      getPrototypeOf: () => {
        throw evil();
      },
      ownKeys: () => {
        throw evil();
      },
      getOwnPropertyDescriptor: () => {
        throw evil();
      },
      has: () => {
        throw evil();
      },
    },
  );

describe('the result of a server step', () => {
  it.each<[string, () => unknown]>([
    ['a date', () => ({ at: new Date(1), bad: new Date(Number.NaN) })],
    ['a map and a set', () => [new Map([[{ a: 1 }, new Set([1n])]])]],
    ['undefined inside', () => ({ a: undefined, b: [undefined] })],
    ['undefined itself', () => undefined],
    ['null', () => null],
    ['numbers JSON does not have', () => [-0, Number.NaN, Number.POSITIVE_INFINITY]],
    ['a url and bytes', () => [new URL('https://example.com/x'), new Uint8Array([1, 2])]],
    ['something that looks like a tag', () => ({ $: 'u' })],
    ['a text with odd characters', () => '\ud800 \u2028 "\\'],
    ['an own __proto__', () => JSON.parse('{"__proto__":{"a":1}}') as unknown],
    ['an empty text', () => ''],
  ])('[R2] passes through the codec, in the first run as on replay: %s', async (_, make) => {
    const { first, replayed } = await gotTwice(() => step('s', make));
    expect(replayed).toStrictEqual(first);
    expect(first).toStrictEqual(decode(encode(make())));
  });

  it('[R2] is a copy: changes by the body reach neither the journal nor the next replay', async () => {
    const kept = { list: [1], at: new Date(7) };
    const seen: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        const result = yield* step('s', () => kept);
        seen.push(JSON.stringify(result));
        result.list.push(2);
        result.at.setTime(0);
        const [roots] = [yield* listRoots('roots')];
        seen.push(JSON.stringify(roots));
        (roots as unknown[]).push('x');
        yield* ask('end');
        return 'done';
      });
    let { state } = suspended(await start(make()));
    state = suspended(
      await turn(make(), state, { roots: answered({ roots: [{ uri: 'file:///a' }] }) }),
    ).state;
    completed(await turn(make(), state, { end: accepted({ word: 'w' }) }));
    expect(new Set(seen)).toEqual(
      new Set(['{"list":[1],"at":"1970-01-01T00:00:00.007Z"}', '[{"uri":"file:///a"}]']),
    );
    expect(kept).toEqual({ list: [1], at: new Date(7) });
  });

  it('[R2] is undefined with keep: false, in the first run too', async () => {
    expect(await gotTwice(() => step('s', () => 'secret', { keep: false }))).toEqual({
      first: undefined,
      replayed: undefined,
    });
  });

  it('[R2] with keep: false need not be encodable, and is in no journal', async () => {
    const program = sagaOf(function* () {
      yield* step('s', () => ({ secret: 'hunter2', call: () => 1 }), { keep: false });
      yield* ask('end');
      return 'done';
    });
    const { state } = suspended(await start(program));
    expect(JSON.stringify(state)).not.toContain('hunter2');
  });

  it.each<[string, () => unknown]>([
    ['a function', () => () => 1],
    ['an instance of something', () => Object.create({ own: 1 }) as unknown],
    ['a cycle', () => Object.assign([] as unknown[], { 0: 1 }).concat([cycle()])],
    ['a symbol', () => ({ a: Symbol('x') })],
    ['an object whose getters throw', () => evil()],
    ['an error whose getters throw', () => new Unreadable()],
  ])(
    '[R2] that cannot be encoded is a StepError, and the step is not retried: %s',
    async (_, make) => {
      let runs = 0;
      const { first, replayed } = await gotTwice(() =>
        step(
          's',
          () => {
            runs += 1;
            return { deep: [make()] };
          },
          { retry: 3 },
        ),
      );
      expect(first).toBeInstanceOf(StepError);
      expect(first).toMatchObject({ code: 'unencodable', stepId: 's' });
      expect(facts(replayed)).toEqual(facts(first));
      expect(runs).toBe(1);
    },
  );

  it('[R2] that cannot be stored is reported with its step and class, without the key of the step', async () => {
    class Order {
      readonly id = 1;
    }
    const told = async (command: Command<unknown>): Promise<unknown> =>
      (await gotTwice(() => command)).first;
    const plain =
      'return plain data: JSON, undefined, bigint, Date, Map, Set, URL, Uint8Array or Error';
    expect(await told(step('order', () => new Order()))).toMatchObject({
      message: `Step 'order' returned a value that cannot be recorded: value is an instance of Order: ${plain}`,
    });
    expect(
      await told(step('order', () => ({ items: [new Order()] }), { key: '4111 1111' })),
    ).toMatchObject({
      message: `Step 'order' returned a value that cannot be recorded: value.items[0] is an instance of Order: ${plain}`,
    });
    expect(
      await told(poll('ready', (): unknown => new Order(), { every: 1, timeout: 2 })),
    ).toMatchObject({
      message: `Poll 'ready': its answer is an instance of Order: ${plain}`,
    });
  });

  it('[R1] cannot change the input that the body sees', async () => {
    const input = { list: [1] };
    const seen: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        const mine = structuredClone(input);
        yield* step(
          's',
          ({ input: given, attempt }) => {
            given.list.push(2);
            seen.push(JSON.stringify(given));
            if (attempt === 1) throw new Error('again');
          },
          { input: mine, retry: { attempts: 2, delay: 1 } },
        );
        seen.push(JSON.stringify(mine));
        yield* ask('end');
        return 'done';
      });
    const { state } = suspended(await start(make()));
    completed(await turn(make(), state, { end: accepted({ word: 'w' }) }));
    expect(seen).toEqual(['{"list":[1,2]}', '{"list":[1,2]}', '{"list":[1]}', '{"list":[1]}']);
  });

  it('[R1] uses the input as it was when the step was issued', async () => {
    const seen: unknown[] = [];
    const program = sagaOf(function* () {
      const shared = { n: 1 };
      const first = function* (): Steps<void> {
        yield* step('s', ({ input }) => void seen.push(input), { input: shared });
      };
      const second = function* (): Steps<void> {
        shared.n = 2;
        yield* step('t', ({ input }) => void seen.push(input), { input: shared });
      };
      yield* all([first(), second()]);
      return 'done';
    });
    completed(await start(program));
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

function cycle(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

describe('the error of a server step', () => {
  const thrown: [string, () => unknown][] = [
    ['an error of a class', () => new OwnError('own')],
    ['a SagaError', () => new SagaError('for the user', { code: 'quota' })],
    [
      'another StepError',
      () => new StepError('elsewhere', { name: 'X', message: 'y', code: 3, public: true }),
    ],
    ['undefined', () => undefined],
    ['null', () => null],
    ['a text', () => 'a text'],
    ['a number', () => 5],
    ['a symbol', () => Symbol('x')],
    ['a function', () => () => 1],
    ['a frozen object', () => Object.freeze({ name: 'Frozen', message: 'cold', code: -0 })],
    ['a frozen error', () => Object.freeze(new RangeError('cold'))],
    ['an object without anything', () => ({})],
    [
      'an object without a prototype',
      () => Object.assign(Object.create(null) as object, { message: 'm' }),
    ],
    ['odd properties', () => ({ name: 5, message: {}, code: Number.NaN, data: Number.NaN })],
    [
      'data that cannot be encoded',
      () => Object.assign(new Error('m'), { code: 'c', data: () => 1 }),
    ],
    ['data whose getters throw', () => Object.assign(new Error('m'), { data: evil() })],
    ['getters that throw', () => new Unreadable()],
    ['a proxy that refuses everything', () => evil()],
    ['an error with a cause', () => new Error('outer', { cause: new Error('inner') })],
    [
      'code and data in order',
      () => Object.assign(new Error('m'), { code: 404, data: { at: new Date(3) } }),
    ],
    ['a code named unencodable', () => Object.assign(new Error('m'), { code: 'unencodable' })],
  ];

  it.each(thrown)(
    '[R2] is the same StepError in the first run as on replay: %s',
    async (_, make) => {
      const { first, replayed } = await gotTwice(() =>
        step('s', () => {
          throw make();
        }),
      );
      expect(first).toBeInstanceOf(StepError);
      expect(facts(replayed)).toStrictEqual(facts(first));
    },
  );

  it.each(thrown)(
    '[R2] is the same StepError if a promise rejects with it: %s',
    async (_, make) => {
      const { first, replayed } = await gotTwice(() =>
        // oxlint-disable-next-line prefer-promise-reject-errors -- that is what is tested
        step('s', () => Promise.reject(make())),
      );
      expect(first).toBeInstanceOf(StepError);
      expect(facts(replayed)).toStrictEqual(facts(first));
    },
  );

  it('[R2] keeps name, message, code, and data, and not the class', async () => {
    const { first } = await gotTwice(() =>
      step('s', () => {
        throw new OwnError('own');
      }),
    );
    expect(facts(first)).toMatchObject({
      step: true,
      own: false,
      type: false,
      name: 'OwnError',
      message: 'own',
      code: 'E_OWN',
      data: { at: new Date(5), big: 1n },
      public: false,
    });
  });

  it('[R2] omits data that cannot be encoded, and keeps the rest', async () => {
    const { first } = await gotTwice(() =>
      step('s', () => {
        throw Object.assign(new RangeError('m'), { code: 'c', data: { deep: () => 1 } });
      }),
    );
    expect(facts(first)).toMatchObject({
      name: 'RangeError',
      message: 'm',
      code: 'c',
      data: undefined,
    });
  });

  it('[R2] may be shown to the client only if it was a SagaError', async () => {
    const own = await gotTwice(() =>
      step('s', () => {
        throw new SagaError('told');
      }),
    );
    expect(facts(own.replayed)).toMatchObject({ public: true, code: 'saga' });
  });

  it('[R2] fails the saga as the same StepError if the body does not catch it', async () => {
    const program = sagaOf(function* () {
      yield* step('s', () => {
        throw new OwnError('own');
      });
      return 'never';
    });
    const error = failed(await start(program));
    expect(facts(error)).toMatchObject({ step: true, name: 'OwnError', stepId: 's' });
  });

  it('[R2] is that of a host without keys or random bytes, the same on replay', async () => {
    const settings = {
      replace: {
        idempotencyKey: () => Promise.reject(new OwnError('no key')),
        randomBytes: () => Promise.reject(new OwnError('no bytes')),
      },
    };
    for (const make of [() => step('s', () => 1), () => random(), () => uuid()]) {
      const { first, replayed } = await gotTwice(make, {}, settings);
      expect(facts(first)).toMatchObject({ step: true, name: 'OwnError' });
      expect(facts(replayed)).toStrictEqual(facts(first));
    }
  });
});

describe('an answer of the client', () => {
  /** A schema that counts how often it parses. */
  function counting(parse: (value: { word?: unknown }) => unknown): {
    schema: Schema;
    calls: () => number;
  } {
    let calls = 0;
    const form = z.object({ word: z.string().optional() })['~standard'];
    return {
      calls: () => calls,
      schema: {
        '~standard': {
          ...form,
          validate: (value) => {
            calls += 1;
            return { value: parse(value as { word?: unknown }) };
          },
        },
      },
    };
  }

  it('[R2] is parsed once: the journal stores the parsed answer, and replay does not parse it', async () => {
    const { schema, calls } = counting(({ word }) => ({ word, at: new Date(9) }));
    const seen: unknown[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        seen.push(yield* elicit('form', { message: 'm', schema }));
        for (const id of ['x', 'y', 'z']) yield* ask(id);
        return 'done';
      });
    let { state } = suspended(await start(make()));
    state = suspended(await turn(make(), state, { form: accepted({ word: 'a' }) })).state;
    for (const id of ['x', 'y']) {
      state = suspended(
        await turn(make(), state, { [id]: accepted({ word: 'w' }), form: accepted({ word: 'a' }) }),
      ).state;
    }
    completed(await turn(make(), state, { z: accepted({ word: 'w' }) }));
    expect(calls()).toBe(1);
    expect(seen).toStrictEqual(Array.from({ length: 4 }, () => ({ word: 'a', at: new Date(9) })));
  });

  it('[R2] of a saga or a called saga has its arguments parsed once, at the start', async () => {
    const outer = counting(() => ({ at: new Date(1) }));
    const inner = counting(({ word }) => ({ word }));
    const seen: unknown[] = [];
    const child = saga({ name: 'child', version: '1', input: inner.schema }, function* (input) {
      seen.push(input);
      yield* ask('a');
      return 'child';
    });
    const program = saga({ name: 'parent', version: '1', input: outer.schema }, function* (input) {
      seen.push(input);
      yield* call(child, { word: 'w' });
      yield* ask('b');
      return 'done';
    });
    let { state } = suspended(await start(program));
    state = suspended(await turn(program, state, { 'child/a': accepted({ word: 'w' }) })).state;
    completed(await turn(program, state, { b: accepted({ word: 'w' }) }));
    expect([outer.calls(), inner.calls()]).toEqual([1, 1]);
    expect(seen).toStrictEqual([0, 1, 2].flatMap(() => [{ at: new Date(1) }, { word: 'w' }]));
  });

  it('[R2] refuses arguments of a called saga with a StepError that names the field', async () => {
    const child = saga(
      { name: 'child', version: '1', input: z.object({ n: z.number() }) },
      // oxlint-disable-next-line require-yield
      function* () {
        return 'never';
      },
    );
    const { first, replayed } = await gotTwice(() => call(child, { n: 'x' } as never));
    expect(facts(first)).toMatchObject({ step: true, code: 'invalid_input', stepId: 'child' });
    expect((first as Error).message).toContain('n: ');
    expect(facts(replayed)).toStrictEqual(facts(first));
  });

  it('[R2] is a StepError if the schema of a called saga throws', async () => {
    const { schema } = counting(() => {
      throw new OwnError('parser');
    });
    // oxlint-disable-next-line require-yield
    const child = saga({ name: 'child', version: '1', input: schema }, function* () {
      return 'never';
    });
    const { first, replayed } = await gotTwice(() => call(child, {}));
    expect(facts(first)).toMatchObject({ step: true, name: 'OwnError', message: 'parser' });
    expect(facts(replayed)).toStrictEqual(facts(first));
  });

  it('[R2] is a StepError if the schema throws at an answer, and the error reaches the host', async () => {
    const { schema } = counting(() => {
      throw new OwnError('parser');
    });
    const make = (): Command<unknown> => elicit('form', { message: 'm', schema });
    const { first, replayed } = await gotTwice(make, { form: accepted({ word: 'a' }) });
    expect(facts(first)).toMatchObject({ step: true, name: 'OwnError', message: 'parser' });
    expect(facts(replayed)).toStrictEqual(facts(first));
    const world = new World();
    const reported: unknown[] = [];
    const thrown: unknown[] = [];
    const replace = {
      schemaFailed: (error: unknown) => void reported.push(error),
      threw: (path: string, error: unknown) => void thrown.push(path, error),
    };
    const program = sagaOf(function* () {
      yield* make();
      return 'done';
    });
    const { state } = suspended(await start(program));
    const outcome = await turn(program, state, { form: accepted({ word: 'a' }) }, world, {
      replace,
    });
    expect(failed(outcome)).toMatchObject({ name: 'OwnError', message: 'parser' });
    expect([reported, thrown]).toEqual([
      [new OwnError('parser')],
      ['form', new OwnError('parser')],
    ]);
    expect(world.events.map(({ type }) => type)).toEqual(['failed']);
  });

  it('[R2] is a StepError if the schema makes a value that cannot be stored', async () => {
    const { schema } = counting(() => () => 'a function');
    const { first, replayed } = await gotTwice(() => elicit('form', { message: 'm', schema }), {
      form: accepted({ word: 'a' }),
    });
    expect(facts(first)).toMatchObject({ step: true, code: 'unencodable' });
    expect(facts(replayed)).toStrictEqual(facts(first));
  });

  it.each(['decline', 'cancel'] as const)(
    '[R2] throws ElicitationRefused in the first run as on replay: %s',
    async (action) => {
      const { first, replayed } = await gotTwice(() => ask('form'), { form: refused(action) });
      expect(first).toBeInstanceOf(ElicitationRefused);
      expect(first).toMatchObject({ action, stepId: 'form', code: 'elicitation_refused' });
      expect(facts(replayed)).toStrictEqual(facts(first));
    },
  );

  it('[R2] is returned as an outcome with elicit.outcome', async () => {
    const schema = z.object({ n: z.coerce.number() });
    const make = (): Command<unknown> => elicit.outcome('form', { message: 'm', schema });
    const yes = await gotTwice(make, { form: accepted({ n: '4' }) });
    expect(yes).toStrictEqual({
      first: { action: 'accept', content: { n: 4 } },
      replayed: { action: 'accept', content: { n: 4 } },
    });
    const no = await gotTwice(make, { form: refused('cancel') });
    expect(no).toStrictEqual({ first: { action: 'cancel' }, replayed: { action: 'cancel' } });
  });

  it('[R2] is a StepError with code and data if the client answers with an error', async () => {
    const error = { code: -32_600, message: 'cannot', data: { why: ['x'] } };
    const { first, replayed } = await gotTwice(() => sample('s', { messages: [], maxTokens: 1 }), {
      s: { error, provenance: 'client' },
    });
    expect(facts(first)).toMatchObject({ step: true, name: 'ClientError', ...error });
    expect(facts(replayed)).toStrictEqual(facts(first));
  });

  it('[R2] of the model and of roots is the same on replay', async () => {
    const model = await gotTwice(() => sample('s', { messages: [], maxTokens: 1 }), {
      s: said('yes'),
    });
    expect(model.first).toEqual({
      role: 'assistant',
      content: { type: 'text', text: 'yes' },
      model: 'm',
    });
    expect(model.replayed).toStrictEqual(model.first);
    const roots = [{ uri: 'file:///a', name: 'a' }];
    const listed = await gotTwice(() => listRoots('r'), { r: answered({ roots }) });
    expect(listed).toStrictEqual({ first: roots, replayed: roots });
  });
});

describe('a nondeterministic value', () => {
  it('[R2] is read once, and is a copy: now, random, uuid, info', async () => {
    const capabilities = { sampling: {} };
    const seen: unknown[][] = [];
    const make = (): Program =>
      sagaOf(function* () {
        const read: unknown[] = [yield* now(), yield* random(), yield* uuid(), yield* info()];
        seen.push(structuredClone(read));
        const self = read[3] as { capabilities: Record<string, unknown> };
        self.capabilities['mine'] = true;
        yield* ask('end');
        return 'done';
      });
    const world = new World();
    const { state } = suspended(await start(make(), {}, world, { capabilities }));
    world.time = 5_000;
    completed(
      await turn(make(), state, { end: accepted({ word: 'w' }) }, world, { capabilities: {} }),
    );
    expect(seen[1]).toStrictEqual(seen[0]);
    expect(capabilities).toEqual({ sampling: {} });
    const [time, fraction, id, self] = seen[0] ?? [];
    expect(time).toBe(1_000);
    expect(fraction).toBeGreaterThanOrEqual(0);
    expect(fraction).toBeLessThan(1);
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(self).toEqual({
      sagaId: 'saga-1',
      turn: 1,
      tokenBytes: 0,
      continueAsSuggested: false,
      capabilities,
    });
  });

  it('[R2] info() read in each turn adds 25 bytes at most to its token, and replays each as it was', async () => {
    const phone = { elicitation: { form: {} } };
    const laptop = { ...phone, sampling: {}, roots: { listChanged: true } };
    const seen: unknown[][] = [];
    const make = (reads: boolean): Program =>
      sagaOf(function* () {
        const read: unknown[] = [];
        if (reads) seen.push(read);
        for (;;) {
          if (reads) read.push(structuredClone(yield* info()));
          yield* ask('next');
        }
      });
    const clients = [phone, phone, laptop, laptop, phone];
    const sizesOf = async (reads: boolean): Promise<number[]> => {
      const world = new World();
      let outcome = suspended(await start(make(reads), {}, world, { capabilities: phone }));
      const sizes: number[] = [];
      for (const [index, capabilities] of clients.entries()) {
        const given = { [outcome.steps[0]?.stepId ?? '']: accepted({ word: 'w' }) };
        const settings = { capabilities, turn: index + 2, replace: { tokenBytes: 12_345 } };
        outcome = suspended(await turn(make(reads), outcome.state, given, world, settings));
        const { structure, client, server } = outcome.state;
        sizes.push(structure.length + client.length + server.length);
      }
      return sizes;
    };
    const without = await sizesOf(false);
    const added = (await sizesOf(true)).map((size, index) => size - (without[index] ?? 0));
    expect((added[1] ?? 0) - (added[0] ?? 0)).toBeLessThanOrEqual(25);
    expect((added[2] ?? 0) - (added[1] ?? 0)).toBeGreaterThan(60);
    const last = seen.at(-1) as { readonly turn: number; readonly capabilities: unknown }[];
    expect(last.map((read) => read.capabilities)).toEqual([phone, ...clients]);
    expect(last.map((read) => read.turn)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(last.every((read) => 'sagaId' in read && read.sagaId === 'saga-1')).toBe(true);
    expect(seen[0]).toEqual(last.slice(0, 1));
  });

  it('[E2] info() has the ID of the saga in an undo, also where changed code has skipped its record', async () => {
    const told: unknown[] = [];
    const make = (reads: boolean): Program =>
      sagaOf(
        function* () {
          yield* step('keep', () => 1, {
            *compensate() {
              const { sagaId, capabilities } = yield* info();
              told.push([sagaId, capabilities]);
              yield* step('count', () => undefined);
              yield* step('back', () => undefined);
            },
          });
          if (reads) yield* info();
          else yield* step('other', () => 2);
          yield* ask('end');
          return 'done';
        },
        { onMismatch: 'compensate' },
      );
    const capabilities = { elicitation: {} };
    const world = new World();
    const { state } = suspended(await start(make(true), {}, world, { capabilities }));
    // Each step ends its turn, so that later turns replay what the undo has read.
    const settings = { capabilities, replace: { commitsEach: true, ...endsAtCommits() } };
    let outcome = await turn(make(false), state, {}, world, settings);
    while (outcome.status === 'suspended')
      outcome = await turn(make(false), outcome.state, {}, world, settings);
    expect(outcome).toMatchObject({ status: 'failed', compensated: [{ stepId: 'keep' }] });
    expect(told.length).toBeGreaterThan(1);
    expect(new Set(told.map((read) => JSON.stringify(read)))).toEqual(
      new Set([JSON.stringify(['saga-1', capabilities])]),
    );
  });

  it.each([
    [299, 16_383, false],
    [300, 0, true],
    [0, 16_384, true],
  ])(
    'suggests continueAs after %i entries with a token of %i bytes: %s',
    async (entries, tokenBytes, expected) => {
      const program = sagaOf(function* () {
        for (let read = 0; read < entries; read += 1) yield* random();
        return String((yield* info()).continueAsSuggested);
      });
      const settings = { replace: { tokenBytes } };
      expect(completed(await start(program, {}, undefined, settings))).toBe(String(expected));
    },
  );

  it('[R2] differs from use to use, and is the same on every fork', async () => {
    const read = (): Program =>
      sagaOf(function* () {
        return [yield* random(), yield* random(), yield* uuid(), yield* uuid()].join(' ');
      });
    const text = completed(await start(read())) as string;
    expect(new Set(text.split(' ')).size).toBe(4);
    expect(completed(await start(read()))).toBe(text);
  });
});
