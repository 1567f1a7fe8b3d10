/** What compiles, and the types it has. Compiled by types.test.ts. */
import { assign, setup } from 'xstate';
import { z } from 'zod';
import {
  isCancelled,
  isDeclined,
  step,
  elicit,
  elicitUrl,
  machineSaga,
  isRefused,
  listRoots,
  sample,
  stepError,
  type StepLogic,
} from '../../src/index.ts';

type Same<A, B> =
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the only way to compare two types exactly
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(yes: Same<A, B>): void {
  void yes;
}

const Name = z.object({ name: z.string(), size: z.number().default(3) });

const machine = setup({
  types: {
    input: {} as { topic: string },
    context: {} as { topic: string; name: string },
    output: {} as string,
  },
  actors: {
    ask: elicit({ message: ({ input }: { input: { of: string } }) => input.of, schema: Name }),
    plain: elicit({ message: 'Who?', schema: Name }),
    outcome: elicit.outcome({ message: 'Who?', schema: Name }),
    url: elicitUrl({ message: 'Go', url: 'https://a.example' }),
    model: sample({ messages: [], maxTokens: 1 }),
    parsed: sample({ messages: [], maxTokens: 1, parse: ({ model }) => model.length }),
    roots: listRoots(),
    pay: step(({ input }: { input: { amount: number } }) => ({ id: `${input.amount}` }), {
      compensate: ({ result, input }) => {
        same<typeof result, { id: string }>(true);
        same<typeof input, { amount: number }>(true);
      },
    }),
    later: step(async () => 7),
  },
  guards: { isDeclined, isCancelled, isRefused },
}).createMachine({
  context: ({ input }) => ({ topic: input.topic, name: '' }),
  initial: 'ask',
  states: {
    ask: {
      invoke: {
        src: 'ask',
        input: ({ context }) => ({ of: context.topic }),
        onDone: {
          target: 'rest',
          guard: ({ event }) => event.output.size > 1,
          actions: assign({ name: ({ event }) => event.output.name }),
        },
        onError: [
          { guard: 'isDeclined', target: 'end' },
          { actions: assign({ name: ({ event }) => stepError(event)?.reason ?? 'none' }) },
        ],
      },
    },
    rest: {
      invoke: [
        {
          src: 'plain',
          onDone: {
            actions: ({ event }) => same<typeof event.output, { name: string; size: number }>(true),
          },
        },
        {
          src: 'outcome',
          onDone: {
            actions: ({ event: { output } }) => {
              if (output.action === 'accept')
                same<typeof output.content, { name: string; size: number }>(true);
            },
          },
        },
        {
          src: 'url',
          onDone: { actions: ({ event }) => same<typeof event.output, undefined>(true) },
        },
        {
          src: 'model',
          onDone: { actions: ({ event }) => same<typeof event.output.model, string>(true) },
        },
        {
          src: 'parsed',
          onDone: { actions: ({ event }) => same<typeof event.output, number>(true) },
        },
        {
          src: 'roots',
          onDone: {
            actions: ({ event }) => same<(typeof event.output)[number]['uri'], string>(true),
          },
        },
        {
          src: 'pay',
          input: { amount: 1 },
          onDone: { actions: ({ event }) => same<typeof event.output, { id: string }>(true) },
        },
        {
          src: 'later',
          onDone: {
            target: 'end',
            actions: ({ event }) => same<typeof event.output, number>(true),
          },
        },
      ],
    },
    end: { type: 'final' },
  },
  output: ({ context }) => context.name,
});

export const helpers = {
  order: <T>(run: () => Promise<T>): StepLogic<T, undefined> => step(run),
  items: <T extends { id: string }>(run: () => Promise<T[]>) =>
    step(run, { compensate: async () => {} }),
  unsure: step(async (): Promise<unknown> => 5),
};
same<(typeof helpers)['unsure'], StepLogic<unknown, undefined>>(true);

const saga = machineSaga(
  { name: 'typed', version: '1', reuse: 'ok', input: z.object({ topic: z.string() }) },
  machine,
);
same<typeof saga.output, undefined>(true);

const Result = z.object({ count: z.number() });
machineSaga(
  { name: 'structured', version: '1', output: Result },
  setup({ types: { output: {} as { count: number } } }).createMachine({ output: { count: 1 } }),
);

const unchanged = setup({ types: { context: {} as { readonly sum: number } } }).createMachine({
  context: { sum: 0 },
});
machineSaga(
  {
    name: 'a',
    version: '1',
    result: ({ context, value }) => {
      same<typeof context, { readonly sum: number }>(true);
      return `${JSON.stringify(value)} ${context.sum}`;
    },
  },
  unchanged,
);

machineSaga(
  {
    name: 'a',
    version: '1',
    steps: {
      pay: { retry: 3, compensate: ({ result, stepKey }) => void [result, stepKey] },
      ship: {
        unknown: 'compensate',
        compensate: (undo) => {
          if (undo.outcome === 'unknown') return undo.stepKey;
          return undo.result;
        },
      },
    },
    result: () => 'done',
  },
  unchanged,
);
