/* oxlint-disable typescript/no-duplicate-type-constituents, typescript/no-unnecessary-type-arguments -- what is tested */
/**
 * What an author writes, with the exact types it has. Compiled by types.test.ts with both
 * compilers.
 */
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  call,
  checkpoint,
  compensator,
  continueAs,
  each,
  elicit,
  elicitUrl,
  info,
  listRoots,
  now,
  patched,
  pivot,
  poll,
  race,
  random,
  saga,
  sample,
  scope,
  sleep,
  step,
  uuid,
  type BodyInput,
  type NoInput,
  type ElicitOutcome,
  type Saga,
  type SagaInfo,
  type Settled,
} from '../../src/index.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import type { Services } from '../../src/model/register.ts';
import type { Provenance, Root, SampleResult } from '../../src/model/client-step.ts';
import { expectType, type Equal } from './equal.ts';

const Target = z.object({ target: z.string(), count: z.coerce.number().default(1) });
type TargetOutput = { target: string; count: number };
const params = { messages: [], maxTokens: 1 };

function* helper(id: string): Steps<number> {
  return yield* step(id, () => id.length);
}

function* inferredHelper(id: string) {
  const size = yield* helper(id);
  return size > 3 ? ('long' as const) : ('short' as const);
}

export const child = saga(
  { name: 'child', version: '1', input: Target, output: z.object({ done: z.boolean() }) },
  function* ({ target, count }) {
    expectType<Equal<typeof target, string>>();
    expectType<Equal<typeof count, number>>();
    yield* step('work', () => target.repeat(count));
    return { done: true };
  },
);
expectType<
  Equal<typeof child extends Saga<infer I, infer _> ? BodyInput<I> : never, TargetOutput>
>();

export const words = saga({ name: 'words', version: '1' }, function* (nothing) {
  expectType<Equal<typeof nothing, NoInput>>();

  const form = yield* elicit('form', { message: 'm', schema: Target });
  expectType<Equal<typeof form, TargetOutput>>();
  const outcome = yield* elicit.outcome('outcome', { message: 'm', schema: Target });
  expectType<Equal<typeof outcome, ElicitOutcome<TargetOutput>>>();
  if (outcome.action === 'accept') expectType<Equal<typeof outcome.content, TargetOutput>>();
  const spare = yield* elicit('spare', {
    message: 'm',
    schema: Target,
    answeredBy: ['client', 'fallback'],
    fallback: { target: 'a', count: '1' },
  });
  expectType<Equal<typeof spare, TargetOutput>>();
  const made = yield* elicit('made', {
    message: 'm',
    schema: Target,
    answeredBy: ['client', 'model', 'fallback'],
    fallback: async ({ services, signal, attempt, idempotencyKey }) => {
      expectType<Equal<typeof services, Services>>();
      expectType<
        Equal<[typeof signal, typeof attempt, typeof idempotencyKey], [AbortSignal, number, string]>
      >();
      return { target: 'a' };
    },
  });
  expectType<Equal<typeof made, TargetOutput>>();
  const opened = yield* elicitUrl('url', { message: 'm', url: 'https://example.com' });
  expectType<Equal<typeof opened, void>>();
  const answer = yield* sample('sample', params);
  expectType<Equal<typeof answer, SampleResult>>();
  const roots = yield* listRoots('roots');
  expectType<Equal<typeof roots, readonly Root[]>>();

  const time = yield* now();
  const chance = yield* random();
  expectType<Equal<typeof time | typeof chance, number>>();
  const id = yield* uuid();
  expectType<Equal<typeof id, string>>();
  const self = yield* info();
  expectType<Equal<typeof self, SagaInfo>>();
  const by = self.answeredBy('form');
  expectType<Equal<typeof by, Provenance | undefined>>();
  const passed = yield* checkpoint();
  expectType<Equal<typeof passed, void>>();

  const helped = yield* helper('helped');
  expectType<Equal<typeof helped, number>>();
  const inferred = yield* inferredHelper('inferred');
  expectType<Equal<typeof inferred, 'long' | 'short'>>();
  const scoped = yield* scope('scoped', helper('x'));
  expectType<Equal<typeof scoped, number>>();
  const called = yield* call(child, { target: 't' });
  expectType<Equal<typeof called, { done: boolean }>>();

  const plain = yield elicit('plain', { message: 'm', schema: Target });
  expectType<Equal<typeof plain, unknown>>();
  return 'done';
});

export const steps = saga({ name: 'steps', version: '1' }, function* () {
  const made = yield* step('made', () => ({ at: new Date(0), size: 1n }));
  expectType<Equal<typeof made, { at: Date; size: bigint }>>();
  const awaited = yield* step('awaited', async () => 'text');
  expectType<Equal<typeof awaited, string>>();
  const withInput = yield* step(
    'input',
    ({ input, attempt, idempotencyKey, signal, services }) => {
      expectType<Equal<typeof input, { n: number }>>();
      expectType<Equal<typeof attempt, number>>();
      expectType<Equal<typeof idempotencyKey, string>>();
      expectType<Equal<typeof signal, AbortSignal>>();
      expectType<Equal<typeof services, unknown>>();
      return input.n;
    },
    { input: { n: 1 }, retry: 3, timeout: 10 },
  );
  expectType<Equal<typeof withInput, number>>();
  const noInput = yield* step('none', ({ input }) => input);
  expectType<Equal<typeof noInput, undefined>>();
  const kept = yield* step('kept', () => 1, { keep: true });
  expectType<Equal<typeof kept, number>>();
  const dropped = yield* step('dropped', () => 'secret', { keep: false });
  expectType<Equal<typeof dropped, void>>();
  return { content: [{ type: 'text', text: `${withInput}${kept}${awaited}` }] };
});

export const groups = saga({ name: 'groups', version: '1' }, function* () {
  const record = yield* all({
    form: elicit('form', { message: 'm', schema: Target }),
    size: helper('size'),
    word: inferredHelper('word'),
    inner: all([step('a', () => true)]),
  });
  expectType<
    Equal<
      typeof record,
      { form: TargetOutput; size: number; word: 'long' | 'short'; inner: [boolean] }
    >
  >();
  const [first, second, third] = yield* all([step('a', () => 1), helper('b'), uuid()]);
  expectType<Equal<[typeof first, typeof second, typeof third], [number, number, string]>>();
  const list = yield* all([1, 2].map((n) => step('n', () => n, { key: String(n) })));
  expectType<Equal<typeof list, number[]>>();
  const strings = yield* each(['a', 'b'], (id) => step('s', () => id.length));
  expectType<Equal<typeof strings, number[]>>();
  const sizes = yield* each([1, 2], (n, at) => inferredHelper(`${n}${at}`), { limit: 2 });
  expectType<Equal<typeof sizes, ('long' | 'short')[]>>();
  const orders = [{ id: 'a', cents: 1 }] as const;
  const charged = yield* each(
    orders,
    function* ({ cents }) {
      expectType<Equal<typeof cents, 1>>();
      return (yield* step('s', () => cents + 1)) > 1;
    },
    { key: ({ id }) => id },
  );
  expectType<Equal<typeof charged, boolean[]>>();
  const settled = yield* allSettled({ a: step('a', () => 1), b: inferredHelper('b') });
  expectType<Equal<typeof settled, { a: Settled<number>; b: Settled<'long' | 'short'> }>>();
  const pair = yield* allSettled([step('a', () => 1), uuid()]);
  expectType<Equal<typeof pair, [Settled<number>, Settled<string>]>>();
  return 'done';
});

const Refund = z.object({ charge: z.string(), amount: z.coerce.number() });
const refund = compensator(
  'refund',
  Refund,
  ({ args, stepKey, idempotencyKey, signal, attempt, services }) => {
    expectType<Equal<typeof args, { charge: string; amount: number }>>();
    expectType<Equal<[typeof stepKey, typeof idempotencyKey], [string, string]>>();
    expectType<Equal<typeof signal, AbortSignal>>();
    expectType<Equal<typeof attempt, number>>();
    expectType<Equal<typeof services, unknown>>();
  },
);

export const undone = saga({ name: 'undone', version: '1', reuse: 'ok' }, function* () {
  const booked = yield* step('book', ({ input }) => ({ id: input.room.length, at: new Date(0) }), {
    input: { room: 'r' },
    unknown: 'compensate',
    compensate: ({ outcome, result, input, stepKey, idempotencyKey }) => {
      if (outcome === 'done') expectType<Equal<typeof result, { id: number; at: Date }>>();
      else expectType<Equal<typeof result, undefined>>();
      expectType<Equal<typeof input, { room: string }>>();
      expectType<Equal<[typeof stepKey, typeof idempotencyKey], [string, string]>>();
    },
  });
  expectType<Equal<typeof booked, { id: number; at: Date }>>();
  const noInput = yield* step('none', async () => 'id', {
    compensate: ({ result, input }) => {
      expectType<Equal<typeof result, string>>();
      expectType<Equal<typeof input, undefined>>();
    },
  });
  expectType<Equal<typeof noInput, string>>();
  const inSteps = yield* step('steps', () => 7, {
    *compensate({ result, stepKey }): Steps<void> {
      expectType<Equal<typeof result, number>>();
      const found = yield* step('find', () => stepKey.length);
      expectType<Equal<typeof found, number>>();
    },
  });
  expectType<Equal<typeof inSteps, number>>();
  const dropped = yield* step('dropped', () => 'secret', {
    keep: false,
    compensate: ({ result }) => {
      expectType<Equal<typeof result, undefined>>();
    },
  });
  expectType<Equal<typeof dropped, void>>();
  const charged = yield* step('charge', () => ({ charge: 'c', cents: 1 }), {
    compensate: refund.for(({ outcome, result }) => {
      expectType<Equal<typeof outcome, 'done'>>();
      return { charge: result.charge, amount: String(result.cents) };
    }),
  });
  yield* step('charge by key', () => ({ charge: 'c', cents: 1 }), {
    unknown: 'compensate',
    compensate: refund.for<{ charge: string }, undefined, 'compensate'>(({ outcome, result }) => ({
      charge: outcome === 'done' ? result.charge : 'unknown',
      amount: 1,
    })),
  });
  expectType<Equal<typeof charged, { charge: string; cents: number }>>();
  const held = yield* step('hold', () => undefined, {
    compensate: ({ result, input }) => {
      expectType<Equal<[typeof result, typeof input], [undefined, undefined]>>();
    },
  });
  yield* step('named', () => undefined, {
    compensate: refund.for(() => ({ charge: 'c', amount: 1 })),
    label: 'the charge',
    undo: { retry: 2 },
  });
  const passed = yield* pivot('paid');
  expectType<Equal<[typeof held, typeof passed], [undefined, void]>>();
  if (booked.id === 1) {
    // The code after `abort` is unreachable for the compiler.
    const never = yield* abort('enough');
    expectType<Equal<typeof never, never>>();
  }
  return 'done';
});

export const waits = saga({ name: 'waits', version: '1' }, function* () {
  const slept = yield* sleep(10);
  const until = yield* sleep(new Date(0));
  expectType<Equal<[typeof slept, typeof until], [void, void]>>();
  const job = yield* poll(
    'job',
    ({ signal, attempt, services }) => {
      expectType<Equal<typeof signal, AbortSignal>>();
      expectType<Equal<typeof attempt, number>>();
      expectType<Equal<typeof services, unknown>>();
      return attempt > 2 ? { state: 'done' as const } : undefined;
    },
    {
      every: 10,
      timeout: 100,
      report: ({ asked, elapsedMs }) => {
        expectType<Equal<[typeof asked, typeof elapsedMs], [number, number]>>();
        return `${asked} ${elapsedMs}`;
      },
    },
  );
  expectType<Equal<typeof job, { state: 'done' }>>();
  const first = yield* race({
    answer: elicit('answer', { message: 'm', schema: Target, timeout: 1_000 }),
    size: helper('size'),
    late: sleep(60_000),
  });
  expectType<
    Equal<
      typeof first,
      | { readonly winner: 'answer'; readonly value: TargetOutput }
      | { readonly winner: 'size'; readonly value: number }
      | { readonly winner: 'late'; readonly value: void }
    >
  >();
  if (first.winner === 'size') expectType<Equal<typeof first.value, number>>();
  const changed = yield* patched('change');
  expectType<Equal<typeof changed, boolean>>();
  if (changed) {
    const over = yield* continueAs(child, { target: 't' });
    expectType<Equal<typeof over, never>>();
  }
  return 'done';
});

// A result keeps its literal types, and may be as readonly as its constant.
const Report = z.object({
  state: z.enum(['ok', 'late']),
  tags: z.array(z.enum(['x', 'y'])),
  pair: z.tuple([z.string(), z.number()]),
  more: z.unknown(),
  any: z.json(),
  at: z.date().optional(),
});
export const literals = saga({ name: 'literals', version: '1', output: Report }, function* () {
  const flag = yield* step('flag', () => true);
  if (flag) return { state: 'late', tags: [], pair: ['a', 1], more: null, any: [{ a: [null] }] };
  return {
    state: flag ? 'ok' : 'late',
    tags: ['x', 'y'],
    pair: ['a', 1],
    more: 1,
    any: 'x',
    at: new Date(0),
  };
});
export const union = saga(
  {
    name: 'union',
    version: '1',
    output: z.union([
      z.object({ kind: z.literal('a'), x: z.number() }),
      z.object({ kind: z.literal('b'), y: z.string() }),
    ]),
  },
  function* () {
    if (yield* step('flag', () => true)) return { kind: 'a', x: 1 };
    return { kind: 'b', y: 'y' };
  },
);

// Bodies that only throw, never end, are annotated, or are given by type arguments.
export const throwing = saga({ name: 'throwing', version: '1' }, function* () {
  yield* checkpoint();
  throw new Error('never');
});
export const endless = saga({ name: 'endless', version: '1' }, function* () {
  for (;;) yield* checkpoint();
});
export const annotated = saga({ name: 'annotated', version: '1' }, function* (): Steps<string> {
  return String(yield* helper('x'));
});
export const delegated = saga({ name: 'delegated', version: '1', input: Target }, ({ target }) =>
  inferredHelper(target),
);
export const explicit = saga<undefined, undefined>(
  { name: 'explicit', version: '1' },
  function* () {
    yield* checkpoint();
    return 'x';
  },
);
expectType<Equal<typeof explicit, Saga<undefined, undefined>>>();
expectType<Equal<ReturnType<typeof uuid>, Command<string>>>();
