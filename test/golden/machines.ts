/**
 * Machine sagas of the golden tokens. From the first release on, do not change them: released
 * tokens must open and finish with them.
 */
import { elicit, machineSaga, sample, step } from '@mcp-saga/xstate';
import { assign, fromTransition, setup, type AnyActorRef } from 'xstate';
import { z } from 'zod';
import { effects, refund, type GoldenStory } from './sagas.ts';

const Name = z.object({ name: z.string() });
const ask = elicit({
  message: ({ input }: { input: { of: string } }) => `Who, of ${input.of}?`,
  schema: Name,
});
const model = sample({
  messages: [{ role: 'user', content: { type: 'text', text: 'Is it so?' } }],
  maxTokens: 9,
  parse: ({ content }) => (content.type === 'text' ? content.text : ''),
});

const note =
  (what: string) =>
  ({ idempotencyKey }: { readonly idempotencyKey: string }): string => {
    effects.push(`${what} ${idempotencyKey.slice(0, 8)}`);
    return what;
  };

const kid = setup({
  types: { input: {} as { of: string }, context: {} as { of: string; at: Date } },
  actors: { ask, counter: fromTransition((count: number) => count + 1, 0) },
}).createMachine({
  id: 'kid',
  context: ({ input, spawn }) => {
    spawn('counter', { id: 'counter' });
    return { of: input.of, at: new Date(0) };
  },
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context }) => ({ of: context.of }),
        onDone: 'asked',
      },
    },
    asked: { type: 'final' },
  },
});

/** Regions, a child machine, a spawned one, history, a delay, and effects that can be undone. */
const triage = machineSaga(
  { name: 'triage', version: '1', input: z.object({ topic: z.string() }), reuse: 'ok' },
  setup({
    types: {
      input: {} as { topic: string },
      context: {} as { topic: string; verdict: string; ref?: AnyActorRef },
      output: {} as string,
    },
    actors: {
      ask,
      model,
      kid,
      page: step(note('paged'), { compensate: note('unpaged') }),
      charge: step(() => 7, { compensate: refund.for(({ result }) => ({ amount: result })) }),
      fail: step(() => {
        throw new Error('no way');
      }),
    },
  }).createMachine({
    id: 'triage',
    context: ({ input }) => ({ topic: input.topic, verdict: 'none' }),
    initial: 'paging',
    states: {
      paging: { invoke: { id: 'page', src: 'page', onDone: 'charging' } },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'both' } },
      both: {
        type: 'parallel',
        entry: assign({
          ref: ({ spawn, context }) =>
            spawn('kid', { id: 'spawned', input: { of: context.topic } }),
        }),
        states: {
          person: {
            initial: 'asking',
            states: {
              asking: {
                invoke: {
                  id: 'person',
                  src: 'ask',
                  input: ({ context }) => ({ of: context.topic }),
                  onDone: 'answered',
                },
                after: { 60_000: 'late' },
              },
              late: { invoke: { id: 'kid', src: 'kid', input: { of: 'kid' }, onDone: 'answered' } },
              answered: { type: 'final' },
              again: { type: 'history' },
            },
          },
          classify: {
            initial: 'asking',
            states: {
              asking: {
                invoke: {
                  id: 'model',
                  src: 'model',
                  onDone: {
                    target: 'said',
                    actions: assign({ verdict: ({ event }) => event.output }),
                  },
                },
              },
              said: { type: 'final' },
            },
          },
        },
        onDone: [
          { guard: ({ context }) => context.verdict === 'fail', target: 'failing' },
          { target: 'left' },
        ],
      },
      failing: { invoke: { id: 'fail', src: 'fail' } },
      left: { type: 'final' },
    },
    output: ({ context, self }) =>
      `${context.topic} ${context.verdict} ${context.ref === self.getSnapshot().children['spawned']}`,
  }),
);

const named = (stepId: string): GoldenStory['before'][number][number] => ({
  stepId,
  result: { action: 'accept', content: { name: 'Ada' } },
});
const said = (text: string): GoldenStory['before'][number][number] => ({
  stepId: 'model',
  result: { role: 'assistant', model: 'm', content: { type: 'text', text } },
});

/** Stories by name. */
export const machineStories: Readonly<Record<string, GoldenStory>> = {
  'a machine asked first': {
    saga: triage,
    args: { topic: 'fire' },
    before: [],
    after: [[said('yes')], [named('person')]],
    pause: 1_000,
  },
  'a machine that is late': {
    saga: triage,
    args: { topic: 'fire' },
    before: [[said('yes')]],
    after: [[named('spawned/ask')], [named('kid/ask@3')]],
    pause: 61_000,
  },
  'a machine to be undone': {
    saga: triage,
    args: { topic: 'fire' },
    before: [[named('person')]],
    after: [[said('fail')]],
    pause: 1_000,
  },
};
