import { assign, createMachine, enqueueActions, fromPromise, not, setup, spawnChild } from 'xstate';
import type { AnyStateMachine, StateValue } from 'xstate';
import {
  approval,
  elicit,
  elicitUrl,
  isDeclined,
  listRoots,
  sample,
  step,
  waitFor,
} from '@mcp-saga/xstate';
import { z } from 'zod';

/** A machine to be drawn, and a state of it. */
export interface Pictured {
  readonly machine: AnyStateMachine;
  readonly value?: StateValue;
}

const steps = setup({
  actors: {
    target: elicit({ message: 'Where?', schema: z.object({ target: z.string() }) }),
    sign: elicitUrl({ message: 'Sign', url: 'https://example.com' }),
    safety: sample({ messages: [], maxTokens: 10 }),
    roots: listRoots(),
    release: step(() => 1, { compensate: () => undefined }),
    load: fromPromise(async () => 1),
    child: createMachine({ id: 'child' }),
  },
  guards: { isSafe: () => true },
  delays: { patience: 5_000 },
});

const chain = steps.createMachine({
  id: 'deploy',
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'target',
        onDone: 'judging',
        onError: [{ target: 'over', guard: isDeclined }, { target: 'failed' }],
      },
      after: { 300_000: 'failed', patience: { actions: () => undefined } },
    },
    judging: {
      invoke: {
        src: 'safety',
        onDone: [
          { target: 'releasing', guard: 'isSafe' },
          { target: 'over', guard: not('isSafe') },
        ],
      },
    },
    releasing: { invoke: { src: 'release', onDone: 'over' }, on: { STOP: 'failed', PING: {} } },
    over: { type: 'final' },
    failed: { type: 'final', tags: ['compensate'] },
  },
});

const nested = steps.createMachine({
  id: 'order',
  initial: 'open',
  on: { CANCEL: '.over' },
  states: {
    open: {
      initial: 'empty',
      invoke: [
        { src: 'load', id: 'stock' },
        { src: 'child', onDone: 'over' },
      ],
      on: { RESET: '.empty', '*': { target: 'open', reenter: true } },
      states: {
        empty: { always: { target: 'full', guard: ({ event }) => event.type === 'ADD' } },
        full: { on: { PAY: '#order.over', LESS: 'empty' } },
        paid: { type: 'final' },
      },
      onDone: 'over',
    },
    over: { type: 'final' },
  },
});

const parallel = steps.createMachine({
  id: 'both',
  type: 'parallel',
  states: {
    person: {
      initial: 'asked',
      states: {
        asked: {
          invoke: [
            { src: 'target', onDone: 'known' },
            { src: 'sign', onDone: 'known' },
          ],
        },
        known: { type: 'final' },
      },
    },
    model: {
      initial: 'asked',
      states: { asked: { on: { NEVER_MIND: '#both.person.known' } }, known: { type: 'final' } },
    },
    files: { invoke: { src: 'roots' } },
  },
});

const history = createMachine({
  id: 'player',
  initial: 'playing',
  states: {
    playing: {
      initial: 'song',
      on: { PAUSE: 'paused' },
      states: {
        song: { initial: 'verse', states: { verse: { on: { SING: 'chorus' } }, chorus: {} } },
        silence: {},
        last: { type: 'history', target: 'song.chorus' },
        exactly: { type: 'history', history: 'deep', target: '#player.paused' },
        anew: { type: 'history' },
      },
    },
    paused: { on: { PLAY: 'playing.last', RESUME: { target: 'playing.exactly' } } },
  },
});

const spawning = steps
  .extend({ actions: { loads: spawnChild('load', { id: 'stock' }) } })
  .createMachine({
    id: 'shop',
    context: ({ spawn }: { spawn: (src: string, options: object) => unknown }) => ({
      ref: spawn('roots', { id: 'roots' }),
    }),
    initial: 'open',
    states: {
      open: {
        entry: spawnChild('target', { id: 'where' }),
        exit: 'loads',
        on: {
          PAY: {
            target: 'over',
            actions: assign({ ref: ({ spawn }) => spawn('release', { id: 'pay' }) }),
          },
          LOOK: {
            actions: enqueueActions(({ enqueue }) => enqueue.spawnChild('child', { id: 'kid' })),
          },
        },
      },
      over: { entry: assign({ ref: () => 'release' }), type: 'final' },
    },
  } as never);

/** Names that are grammar, HTML or Markdown somewhere. */
export const oddNames: readonly string[] = [
  'end',
  'State',
  'a state of mind',
  'root',
  'note',
  'class',
  '[*]',
  'a:b',
  'a_start',
  'say "hi"',
  'a --> b',
  '1. one',
  '- list',
  '+﷼',
  '12) twelve',
  '**bold** _it_ `code`',
  '<b>&amp;</b>',
  '#35;',
  '%% no comment',
  '%%{init: {}}%%',
  'direction LR',
  'x;y{z}',
  '質問 🙂',
  'été',
  '$$x$$',
  '<<fork>>',
  'back\\nslash',
  'constructor',
];

const odd = createMachine({
  id: 'odd: "names"',
  initial: oddNames[0],
  states: Object.fromEntries(
    oddNames.map((name, index) => [
      name,
      {
        id: `odd${index}`,
        on: { [name]: `#odd${(index + 1) % oddNames.length}` },
        ...(name.length % 2 === 0 ? {} : { initial: name, states: { [name]: {}, start: {} } }),
      },
    ]),
  ),
});

const outside = setup({
  actors: {
    manager: approval({ message: 'Refund?', timeout: 1_000, deliver: () => undefined }),
    money: waitFor({
      schema: z.object({}),
      link: 'accept',
      timeout: 1_000,
      register: () => undefined,
    }),
  },
}).createMachine({
  id: 'refund',
  initial: 'asking',
  states: {
    asking: { invoke: { id: 'manager', src: 'manager', onDone: 'paying' } },
    paying: { invoke: { id: 'money', src: 'money', onDone: 'over', onError: 'over' } },
    over: { type: 'final' },
  },
});

/** Machines that show all there is to be drawn. */
export const pictured: { readonly [name: string]: Pictured } = {
  chain: { machine: chain, value: 'judging' },
  nested: { machine: nested, value: { open: 'full' } },
  parallel: { machine: parallel, value: { person: 'asked', model: 'known', files: {} } },
  history: { machine: history, value: { playing: { song: 'verse' } } },
  spawning: { machine: spawning as unknown as AnyStateMachine, value: 'open' },
  outside: { machine: outside, value: 'asking' },
  odd: { machine: odd, value: 'note' },
};
