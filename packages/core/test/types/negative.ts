/* oxlint-disable require-yield, no-unnecessary-type-conversion -- that they do not compile is what is tested */
/** What does not compile. Compiled by types.test.ts with both compilers: each expectation must be met. */
import { z } from 'zod';
import { all, allSettled, call, elicit, saga, sample, step, type Steps } from '../../src/index.ts';

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

export const uses = saga(options, function* () {
  // @ts-expect-error -- a plain yield gives unknown
  const plain: string = yield step('plain', () => 'x');
  // @ts-expect-error -- not kept
  const dropped: string = yield* step('dropped', () => 'x', { keep: false });
  // @ts-expect-error -- input that JSON does not have
  yield* step('input', () => 1, { input: new Date() });
  // @ts-expect-error -- no such field
  (yield* elicit('a', { message: 'm', schema: Target })).other.toString();
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
  // @ts-expect-error -- settled, not the value
  const settled: [number] = yield* allSettled([helper()]);
  return `${plain}${String(dropped)}${String(settled)}`;
});
