import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  all,
  ClientCannot,
  elicit,
  ElicitationRefused,
  SagaError,
  sample,
  step,
  StepError,
  StepTimedOut,
} from '../src/index.ts';
import { z } from 'zod';
import type { Command } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import { encodeError } from '../src/values/step-error-data.ts';
import {
  accepted,
  completed,
  refused,
  start,
  suspended,
  turn,
  type Answers,
} from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const End = z.object({});

interface CaughtOptions {
  readonly answers?: Answers;
  readonly settings?: TurnSettings;
  /** Time until the next request. */
  readonly laterMs?: number;
}

/** What the body catches in the first run, and in a replay of another process. */
async function caughtTwice(
  issue: () => Command<unknown>,
  { answers = {}, settings, laterMs = 0 }: CaughtOptions = {},
): Promise<readonly [unknown, unknown]> {
  const caught: unknown[] = [];
  const program = (): Program =>
    sagaOf(function* () {
      try {
        yield* issue();
      } catch (error) {
        caught.push(error);
      }
      yield* elicit('end', { message: 'Done?', schema: End });
      return 'done';
    });
  const world = new World();
  let outcome = suspended(await start(program(), {}, world, settings));
  world.time += laterMs;
  if (outcome.steps[0]?.stepId !== 'end')
    outcome = suspended(await turn(program(), outcome.state, answers, world, settings));
  completed(await turn(program(), outcome.state, { end: accepted({}) }, world, settings));
  expect(caught).toHaveLength(2);
  return [caught[0], caught[1]];
}

const read = ['name', 'message', 'code', 'status', 'stepId', 'public', 'action', 'need', 'stack'];

/** All that a body can read of an error, without `data`. */
function factsOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fields = read.map((name) => [name, Reflect.get(error, name) as unknown]);
  return {
    ...Object.fromEntries(fields),
    type: Object.getPrototypeOf(error) as object,
    keys: Reflect.ownKeys(error),
    text: String(error),
    cause: factsOf(error.cause),
  };
}

/** The error and its causes, from the outside in. */
function chainOf(error: unknown): readonly unknown[] {
  return error === undefined ? [] : [error, ...chainOf((error as Error).cause)];
}

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  // Around the bound, in characters of one to four bytes.
  fc
    .tuple(fc.constantFrom('x', 'é', '…', '😀', '\ud800'), fc.integer({ min: 200, max: 1100 }))
    .map(([unit, count]) => unit.repeat(count)),
);
const odd = fc.constantFrom<unknown>(
  null,
  Number.NaN,
  -0,
  Infinity,
  1n,
  true,
  Symbol('s'),
  [],
  {},
  () => 1,
);
const scalar = fc.oneof(text, fc.integer(), fc.double());
const field = fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: odd });

/** Refuses every operation. */
const hostile = (): object =>
  new Proxy(
    {},
    new Proxy(
      {},
      {
        get: () => () => {
          throw new Error('refused');
        },
      },
    ),
  );

/** Makes errors as libraries throw them, and as nobody should. Functions: some throw when read. */
const { thrown } = fc.letrec<{ thrown: () => unknown; error: () => object }>((tie) => ({
  thrown: fc.oneof(
    { maxDepth: 5 },
    { weight: 5, arbitrary: tie('error') },
    { weight: 1, arbitrary: field.map((value) => () => value) },
    { weight: 1, arbitrary: fc.constant(hostile) },
  ),
  error: fc
    .record({
      kind: fc.constantFrom('Error', 'RangeError', 'AggregateError', 'object', 'null'),
      message: text,
      fields: fc.record(
        { name: field, code: field, status: field, data: fc.oneof(field, fc.object()) },
        { requiredKeys: [] },
      ),
      cause: fc.option(tie('thrown'), { nil: undefined }),
      how: fc.constantFrom('plain', 'frozen', 'proxy', 'throws', 'cycle'),
    })
    .map(({ kind, message, fields, cause, how }) => () => {
      const error = make(kind, message);
      Object.assign(error, fields);
      if (how === 'cycle') Object.defineProperty(error, 'cause', { value: error });
      else if (cause !== undefined) Object.defineProperty(error, 'cause', { value: cause() });
      if (how === 'throws')
        Object.defineProperty(error, 'status', {
          get: () => {
            throw error;
          },
        });
      if (how === 'frozen') return Object.freeze(error);
      return how === 'proxy' ? new Proxy(error, {}) : error;
    }),
}));

function make(kind: string, message: string): object {
  switch (kind) {
    case 'RangeError':
      return new RangeError(message);
    case 'AggregateError':
      return new AggregateError([new Error('one'), new Error('two')], message);
    case 'object':
      return { message };
    case 'null':
      return Object.assign(Object.create(null) as object, { message });
    default:
      return new Error(message);
  }
}

describe('any error that a step throws', () => {
  it('[R2] looks the same to the body in the first run as in a replay', async () => {
    await fc.assert(
      fc.asyncProperty(thrown, async (makeError) => {
        const error = makeError();
        const fails = (): Command<unknown> =>
          step('s', () => {
            throw error;
          });
        const [first, replayed] = await caughtTwice(fails);
        expect(first).toBeInstanceOf(StepError);
        expect(factsOf(replayed)).toStrictEqual(factsOf(first));
        for (const one of chainOf(first)) {
          if (!(one instanceof Error)) continue;
          expect(one.stack).toBe(`${one.name}: ${one.message}`);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('[T11] is bounded: three causes, and 1 kB in each string', () => {
    fc.assert(
      fc.property(thrown, (makeError) => {
        const { data: _, ...kept } = JSON.parse(encodeError(makeError())) as {
          readonly data?: unknown;
        };
        const strings = JSON.stringify(kept).match(/"(?:[^"\\]|\\.)*"/g) ?? [];
        for (const one of strings)
          expect(new TextEncoder().encode(JSON.parse(one) as string).length).toBeLessThanOrEqual(
            1024,
          );
        // An error, three causes, and four strings in each.
        expect(strings.length).toBeLessThanOrEqual(4 * 12);
      }),
      { numRuns: 300 },
    );
  });

  describe('with `data`', () => {
    // As JSON, a string has two quotes, and each of these characters two bytes.
    const fits = 'é'.repeat((4096 - 2) / 2);
    const failed = (data: unknown): Error => Object.assign(new Error('HTTP 500'), { data });
    const dataOf = async (error: Error): Promise<unknown> => {
      const issue = (): Command<unknown> =>
        step('s', () => {
          throw error;
        });
      const [first, second] = await caughtTwice(issue);
      expect(second).toEqual(first);
      expect(first).toMatchObject({ message: error.message });
      return (first as StepError).data;
    };

    it('[T11] keeps 4 kB of it, and omits more', async () => {
      expect(await dataOf(failed(fits))).toBe(fits);
      expect(await dataOf(failed(`${fits}.`))).toBeUndefined();
    });

    it('[T11] omits a long list, and a value that JSON does not have', async () => {
      expect(await dataOf(failed({ rows: Array(3000).fill(1) }))).toBeUndefined();
      expect(await dataOf(failed(new Map([['body', `${fits}.`]])))).toBeUndefined();
      expect(await dataOf(failed(new Uint8Array(4096)))).toBeUndefined();
    });

    it('[R2] keeps all of it for a public SagaError, and 4 kB for another one', async () => {
      const open = Object.assign(new SagaError('Too many rows'), { data: `${fits}.` });
      expect(await dataOf(open)).toBe(`${fits}.`);
      const hidden = new SagaError('Too many rows', { public: false });
      expect(await dataOf(Object.assign(hidden, { data: `${fits}.` }))).toBeUndefined();
    });
  });

  it('[R2] keeps name, message, code, and status of itself and of three causes', async () => {
    const facts = fc.record({
      name: fc.string({ minLength: 1, maxLength: 9 }),
      message: fc.string({ maxLength: 300 }),
      code: fc.oneof(fc.string({ maxLength: 300 }), fc.integer()),
      status: fc.oneof(fc.string({ maxLength: 300 }), fc.integer()),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(facts, { minLength: 1, maxLength: 6 }), async (levels) => {
        const error = levels.reduceRight<Error | undefined>(
          (cause, level) =>
            Object.assign(new Error(level.message, cause === undefined ? {} : { cause }), level),
          undefined,
        );
        const [first] = await caughtTwice(() =>
          step('s', () => {
            throw error;
          }),
        );
        const seen = chainOf(first).map((one) => {
          const { name, message, code, status } = one as StepError;
          return { name, message, code, status };
        });
        expect(seen).toEqual(levels.slice(0, 4));
      }),
      { numRuns: 100 },
    );
  });
});

describe('an error that the engine throws into a body', () => {
  const ask = (): Command<unknown> => elicit('q', { message: 'm', schema: End, timeout: 5 });
  const model = (): Command<unknown> => sample('q', { messages: [], maxTokens: 1 });
  const cannotSample: TurnSettings = {
    replace: { route: ({ need }) => (need === 'sampling' ? 'cannot' : 'ask') },
  };
  const failing = { error: { code: -32_600, message: 'no' }, provenance: 'client' } as const;

  it.each<[string, () => Command<unknown>, CaughtOptions, unknown]>([
    ['a refusal', ask, { answers: { q: refused() } }, ElicitationRefused],
    ['a dismissal', ask, { answers: { q: refused('cancel') } }, ElicitationRefused],
    ['a late answer', ask, { laterMs: 60_000 }, StepTimedOut],
    ['a client without a capability', model, { settings: cannotSample }, ClientCannot],
    ['an error of the client', model, { answers: { q: failing } }, StepError],
    [
      'a failed branch',
      () => all({ q: ask(), s: step('s', () => 1) }),
      { answers: { q: refused() } },
      ElicitationRefused,
    ],
  ])(
    '[R2] looks the same in the first run as in a replay: %s',
    async (_, command, options, type) => {
      const [first, replayed] = await caughtTwice(command, options);
      expect(first).toBeInstanceOf(type);
      expect(factsOf(replayed)).toStrictEqual(factsOf(first));
      expect((first as Error).stack).toBe(String(first));
    },
  );
});
