/** What does not compile. Compiled by types.test.ts: each expectation must be met. */
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { elicit as elicitInSaga } from '@mcp-saga/core';
import { step, elicit, elicitUrl, machineSaga, sample, waitFor } from '../../src/index.ts';

const Name = z.object({ name: z.string() });
const ask = elicit({ message: ({ input }: { input: { of: string } }) => input.of, schema: Name });
const plain = elicit({ message: 'Who?', schema: Name });
const pay = step(({ input }: { input: { amount: number } }) => input.amount);

// @ts-expect-error -- no message
elicit({ schema: Name });
// @ts-expect-error -- no schema
elicit({ message: 'Who?' });
// @ts-expect-error -- a message that is no text
elicit({ message: () => 5, schema: Name });
// @ts-expect-error -- a fallback that does not fit
elicit({ message: 'Who?', schema: Name, fallback: { name: 5 } });
// @ts-expect-error -- no url
elicitUrl({ message: 'Go' });
// @ts-expect-error -- no maxTokens
sample({ messages: [] });
// @ts-expect-error -- an undo of another result
step(() => 5, { compensate: ({ result }) => result.length });
// @ts-expect-error -- a result that cannot be kept
step(async () => new Response());
// @ts-expect-error -- a function inside
step(({ input }: { input: { n: number } }) => ({ n: input.n, next: () => 1 }));
// @ts-expect-error -- a generator
step(function* () {});
// @ts-expect-error -- an undo that would never run
step(() => 5, { compensate: async function* () {} });
function* asks() {
  yield* elicitInSaga('q', { message: 'm', schema: Name });
}
// @ts-expect-error -- an undo that asks
step(() => 5, { compensate: asks });
// @ts-expect-error -- an undo of an unknown outcome that asks
step(() => 5, { compensate: asks, unknown: 'compensate' });
// @ts-expect-error -- an event that nothing authenticates
waitFor({ schema: Name, register: () => {}, timeout: 1 });

const { createMachine } = setup({
  types: { context: {} as { name: string } },
  actors: { ask, plain, pay },
});

createMachine({
  context: { name: '' },
  // @ts-expect-error -- the input is missing
  invoke: { src: 'ask' },
});
createMachine({
  context: { name: '' },
  // @ts-expect-error -- another input
  invoke: { src: 'pay', input: { amount: 'much' } },
});
createMachine({
  context: { name: '' },
  // @ts-expect-error -- an input for a step without an input
  invoke: { src: 'plain', input: { of: 'x' } },
});
createMachine({
  context: { name: '' },
  // @ts-expect-error -- no such actor
  invoke: { src: 'nobody' },
});
createMachine({
  context: { name: '' },
  invoke: {
    src: 'plain',
    // @ts-expect-error -- the output has no such field
    onDone: { actions: assign({ name: ({ event }) => event.output.nothing }) },
  },
});

const takes = setup({
  types: { input: {} as { topic: string }, output: {} as string },
}).createMachine({});
// @ts-expect-error -- the saga gives the machine no input
machineSaga({ name: 'a', version: '1' }, takes);
// @ts-expect-error -- the saga gives another input
machineSaga({ name: 'a', version: '1', input: z.object({ topic: z.number() }) }, takes);
const silent = setup({}).createMachine({});
// @ts-expect-error -- the machine declares no output
machineSaga({ name: 'a', version: '1' }, silent);
const counts = setup({ types: { output: {} as { count: number } } }).createMachine({});
// @ts-expect-error -- a structured result without a schema
machineSaga({ name: 'a', version: '1' }, counts);
// @ts-expect-error -- another result than the schema says
machineSaga({ name: 'a', version: '1', output: z.object({ count: z.string() }) }, counts);
// @ts-expect-error -- a result that no tool can return
machineSaga({ name: 'a', version: '1', result: () => 5 }, silent);
// @ts-expect-error -- no version
machineSaga({ name: 'a' }, setup({ types: { output: {} as string } }).createMachine({}));
const ends = setup({ types: { output: {} as string } }).createMachine({});
machineSaga({ name: 'a', version: '1', commitEach: true }, ends);
