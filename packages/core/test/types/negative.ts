/* oxlint-disable require-yield, no-unnecessary-type-conversion -- that they do not compile is what is tested */
/**
 * What does not compile. Compiled by types.test.ts with both compilers: each expectation must be
 * met.
 */
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  call,
  compensator,
  continueAs,
  each,
  elicit,
  patched,
  pivot,
  poll,
  race,
  saga,
  sample,
  sleep,
  step,
} from '../../src/index.ts';
import type { Steps } from '../../src/model/command.ts';

const options = { name: 'negative', version: '1' };
const Target = z.object({ target: z.string() });

function* helper(): Steps<number> {
  return yield* step('x', () => 1);
}

// @ts-expect-error -- a promise
saga(options, function* () {
  yield Promise.resolve(1);
  return 'x';
});
// @ts-expect-error -- a promise among commands
saga(options, function* () {
  yield* helper();
  yield fetch('https://example.com');
  return 'x';
});
// @ts-expect-error -- a bare value
saga(options, function* () {
  yield 5;
  return 'x';
});
// @ts-expect-error -- nothing
saga(options, function* () {
  yield;
  return 'x';
});
// @ts-expect-error -- a helper without yield*
saga(options, function* () {
  yield helper();
  return 'x';
});
// @ts-expect-error -- an async generator
saga(options, async function* () {
  return 'x';
});
// @ts-expect-error -- an async function
saga(options, async () => 'x');
// @ts-expect-error -- a plain function
saga(options, () => 'x');
// @ts-expect-error -- a wrong result
saga(options, function* () {
  return 5;
});
// @ts-expect-error -- no result
saga(options, function* () {
  yield* helper();
});
// @ts-expect-error -- not what the output schema has
saga({ ...options, output: z.object({ state: z.enum(['a', 'b']) }) }, function* () {
  return { state: 'c' };
});
// @ts-expect-error -- a tuple of another length
saga({ ...options, output: z.object({ pair: z.tuple([z.string(), z.number()]) }) }, function* () {
  return { pair: ['a'] };
});
// @ts-expect-error -- no version
saga({ name: 'x' }, function* () {
  return 'x';
});

const typed = saga({ ...options, input: Target }, function* ({ target }) {
  // @ts-expect-error -- a string
  const wrong: number = target;
  return String(wrong);
});

export const uses = saga({ ...options, reuse: 'ok' }, function* () {
  // @ts-expect-error -- a plain yield gives unknown
  const plain: string = yield step('plain', () => 'x');
  // @ts-expect-error -- not kept
  const dropped: string = yield* step('dropped', () => 'x', { keep: false });
  // @ts-expect-error -- input that JSON does not have
  yield* step('input', () => 1, { input: new Date() });
  // @ts-expect-error -- no such field
  (yield* elicit('a', { message: 'm', schema: Target })).other.toString();
  // @ts-expect-error -- a fallback that is no content of the form
  yield* elicit('d', { message: 'm', schema: Target, fallback: { target: 1 } });
  yield* elicit.outcome('e', {
    message: 'm',
    schema: Target,
    // @ts-expect-error -- a fallback that makes no content of the form
    fallback: async () => ({ other: 'x' }),
  });
  // @ts-expect-error -- an unknown value of `accept`
  yield* elicit('f', { message: 'm', schema: Target, accept: 'server' });
  // @ts-expect-error -- no message
  yield* elicit('b', { schema: Target });
  // @ts-expect-error -- no maxTokens
  yield* sample('c', { messages: [] });
  // @ts-expect-error -- arguments of another saga
  yield* call(typed, { target: 1 });
  // @ts-expect-error -- a branch that is no command
  yield* all({ a: Promise.resolve(1) });
  // @ts-expect-error -- a helper that was not called
  yield* all([helper]);
  // @ts-expect-error -- items without a key
  yield* each([{ id: 'a' }], () => helper());
  // @ts-expect-error -- a key that is no string
  yield* each([{ id: 1 }], () => helper(), { key: ({ id }) => id });
  // @ts-expect-error -- a branch that is no command
  yield* each(['a'], async () => 1);
  // @ts-expect-error -- a helper that was not called
  yield* each(['a'], () => helper);
  // @ts-expect-error -- settled, not the value
  const settled: [number] = yield* allSettled([helper()]);
  return `${plain}${String(dropped)}${String(settled)}`;
});

const refund = compensator('refund', z.object({ charge: z.string() }), ({ args }) => {
  // @ts-expect-error -- no such argument
  void args.amount;
});
// @ts-expect-error -- no schema of its arguments
compensator('loose', () => {});

export const undone = saga({ ...options, reuse: 'ok' }, function* () {
  yield* step('a', () => 1, {
    compensate: ({ result }) => {
      // @ts-expect-error -- a number
      const wrong: string = result;
      return wrong;
    },
  });
  yield* step('b', () => 1, {
    // @ts-expect-error -- an unknown outcome has no result
    compensate: ({ result }) => result.toFixed(),
    unknown: 'compensate',
  });
  yield* step('c', () => 'secret', {
    keep: false,
    // @ts-expect-error -- not kept
    compensate: ({ result }) => result.length,
  });
  // @ts-expect-error -- arguments of another shape
  yield* step('d', () => 1, { compensate: refund.for(({ result }) => ({ charge: result })) });
  // @ts-expect-error -- a named compensator is given with arguments
  yield* step('e', () => 1, { compensate: refund });
  // @ts-expect-error -- an undo of a step without an effect
  yield* step('g', () => 1, { compensate: () => {}, reads: true });
  // @ts-expect-error -- a step without an effect that runs only once
  yield* step('h', () => 1, { once: true, reads: true });
  // @ts-expect-error -- attempts are a number
  yield* step('f', () => 1, { compensate: () => {}, undo: { retry: 'often' } });
  // @ts-expect-error -- not a function
  yield* step('g', () => 1, { compensate: 'refund' });
  // @ts-expect-error -- no id
  yield* pivot();
  // @ts-expect-error -- no reason
  yield* abort();
  return 'x';
});
// @ts-expect-error -- tokens may be used again, or not
saga({ ...options, reuse: 'maybe' }, function* () {
  yield* helper();
  return 'x';
});

export const waits = saga(options, function* () {
  // @ts-expect-error -- a unit
  yield* sleep('1 sec');
  // @ts-expect-error -- a duration, or a date
  yield* sleep('2027-01-04');
  // @ts-expect-error -- no timeout
  yield* poll('a', () => 1, { every: 10 });
  // @ts-expect-error -- undefined means "not yet", and is not a result
  const answer: undefined = yield* poll('b', () => (Math.random() > 2 ? 1 : undefined), {
    every: 1,
    timeout: 9,
  });
  // @ts-expect-error -- a poll has no idempotency key: it must not change anything
  yield* poll('c', ({ idempotencyKey }) => idempotencyKey, { every: 1, timeout: 9 });
  // @ts-expect-error -- a race is a record: its winner has a name
  yield* race([helper()]);
  const first = yield* race({ a: helper(), b: step('b', () => 'b') });
  // @ts-expect-error -- it may be a string
  const size: number = first.value;
  // @ts-expect-error -- no such branch
  if (first.winner === 'c') return 'c';
  // @ts-expect-error -- true or false
  const changed: string = yield* patched('change');
  // @ts-expect-error -- arguments of another saga
  if (size > 1) yield* continueAs(typed, { target: 1 });
  return `${String(answer)}${changed}`;
});
