import { createSagaHost, memoryStore, type Program, type SagaHost } from '@mcp-saga/server';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { fromPromise, setup, type AnyStateMachine } from 'xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TurnSettings } from '../../core/test/support/world.ts';
import { sleepOn, testClock, type TestClock } from '../../server/test/fixtures/clock.ts';
import { policy } from '../../server/test/fixtures/five.ts';
import { post, read } from '../../server/test/fixtures/raw.ts';
import { handlerOf } from '../../server/test/fixtures/rounds.ts';
import { taskClient } from '../../server/test/fixtures/task-client.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

/** The effects that really ran, in order. */
const ran: string[] = [];
beforeEach(() => {
  ran.length = 0;
});

const minute = 60_000;
const named = ({ input }: { input: string }): string => {
  ran.push(input);
  return input;
};
const actors = {
  work: step(named),
  look: fromPromise(async (given: { input: string }) => named(given)),
  undoable: step(named, { compensate: ({ result }) => void ran.push(`undo ${result}`) }),
  ask: elicit({ message: 'Well?', schema: z.object({ n: z.number() }) }),
  falls: elicit({
    message: 'Well?',
    schema: z.object({ n: z.number() }),
    fallback: () => {
      ran.push('fall back');
      return { n: 1 };
    },
  }),
};
const base = setup({ types: { output: {} as string }, actors });
type Src = 'work' | 'look' | 'undoable';

const over = { type: 'final' } as const;
const doing = (src: Src, id: string, onDone: string) => ({
  invoke: { src, id, input: id, onDone },
});
const asking = { src: 'ask', id: 'ask', onDone: 'over' } as const;

function machine(config: object): AnyStateMachine {
  return base.createMachine({ output: 'ended', ...config });
}

/** Does one thing after the other. */
function chain(...sources: readonly Src[]): AnyStateMachine {
  const states = sources.map(
    (src, at) => [`s${at}`, doing(src, `${src}${at}`, `s${at + 1}`)] as const,
  );
  return machine({
    initial: 's0',
    states: Object.fromEntries([...states, [`s${sources.length}`, over]]) as object,
  });
}

function sagaOf(made: AnyStateMachine, more: object = {}): Program {
  return machineSaga({ name: 'm', version: '1', reuse: 'ok', ...more } as never, made as never);
}

const drive = (made: AnyStateMachine, more: object = {}): Drive => new Drive(sagaOf(made, more));
const deferring: TurnSettings = { replace: { defersEffects: 'all' } };

describe('a machine in a turn that defers effects', () => {
  it.each<[string, AnyStateMachine, TurnSettings, string]>([
    ['an effect', chain('work'), deferring, 'work0'],
    ['a plain promise', chain('look'), deferring, 'look0'],
    [
      'a plain promise of a child machine',
      setup({ types: { output: {} as string }, actors: { child: chain('look') } }).createMachine({
        initial: 'a',
        states: { a: { invoke: { id: 'child', src: 'child', onDone: 'over' } }, over },
        output: 'ended',
      }),
      deferring,
      'look0',
    ],
    [
      'an answer that is given here',
      machine({
        initial: 'a',
        states: { a: { invoke: { src: 'falls', id: 'falls', onDone: 'over' } }, over },
      }),
      { replace: { defersEffects: 'all', route: () => 'fallback' } },
      'fall back',
    ],
    ['a plain promise, with an empty budget,', chain('look'), { budget: 0 }, 'look0'],
    ['an effect, with an empty budget,', chain('work'), { budget: 0 }, 'work0'],
  ])('[W7] defers %s to the next turn', async (_, made, settings, what) => {
    const saga = drive(made);
    await saga.start({}, settings);
    expect(saga.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    await saga.resume({}, settings);
    expect(saga.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(ran).toEqual([]);
    const { route } = settings.replace ?? {};
    expect(await saga.resume({}, route === undefined ? {} : { replace: { route } })).toMatchObject({
      status: 'completed',
      result: 'ended',
    });
    expect(ran).toEqual([what]);
  });

  it('[W7] fires delays, asks, accepts answers, and undoes nothing', async () => {
    const saga = drive(
      machine({
        initial: 'doing',
        states: {
          doing: doing('undoable', 'it', 'waiting'),
          waiting: { after: { [minute]: 'asking' } },
          asking: { invoke: { ...asking, onError: 'left' } },
          over,
          left: { ...over, tags: 'compensate' },
        },
      }),
    );
    await saga.start();
    await saga.resume({}, deferring);
    expect(saga.suspended).toMatchObject({ retryAfterMs: minute });
    saga.world.time += minute;
    await saga.resume({}, deferring);
    expect(saga.asked).toHaveLength(1);
    await saga.resume({ [String(saga.asked[0])]: { action: 'decline' } }, deferring);
    expect(saga.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(ran).toEqual(['it']);
    expect(failureOf(await saga.resume()).compensated).toMatchObject([{ stepId: 'it' }]);
    expect(ran).toEqual(['it', 'undo it']);
  });

  it('[W3] [W7] continues after a question that the client cannot answer, because that runs no effect', async () => {
    const asks = { invoke: { ...asking, onError: 'over' } };
    const saga = drive(machine({ initial: 'asking', states: { asking: asks, over } }));
    const route = (): 'cannot' => 'cannot';
    await saga.start({}, { budget: 0, replace: { route } });
    expect(saga.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    const end = await saga.resume({}, { replace: { route, defersEffects: 'all' } });
    expect(end).toMatchObject({ status: 'completed' });
  });

  it('never runs a plain promise whose state ended before its turn', async () => {
    const looking = { ...doing('look', 'it', 'over'), after: { [minute]: 'over' } };
    const saga = drive(machine({ initial: 'looking', states: { looking, over } }));
    await saga.start({}, deferring);
    saga.world.time += minute;
    expect(await saga.resume({}, deferring)).toMatchObject({ status: 'completed' });
    expect(ran).toEqual([]);
  });
});

it('[W7] the actions of a machine run in a turn that defers effects, because they lead to its state', async () => {
  const looking = { entry: () => void ran.push('entered'), ...doing('work', 'it', 'over') };
  await drive(machine({ initial: 'looking', states: { looking, over } })).start({}, deferring);
  expect(ran).toEqual(['entered']);
});

describe('a machine whose client gets a token', () => {
  it.each<[Src, Src, Src]>([
    ['work', 'work', 'work'],
    ['look', 'look', 'look'],
    ['work', 'look', 'work'],
    ['look', 'work', 'look'],
  ])('[U4] a token after each step follows %s, %s, and %s', async (...sources) => {
    const saga = drive(chain(...sources));
    const after: TurnSettings = { replace: { commitsEach: true } };
    await saga.start({}, after);
    expect(ran).toHaveLength(1);
    await saga.resume({}, after);
    expect(ran).toHaveLength(2);
    expect(await saga.resume({}, after)).toMatchObject({ status: 'completed' });
    expect(ran).toEqual(sources.map((src, at) => src + String(at)));
  });

  it('[W6] gets the time when the machine continues without an answer', async () => {
    const patient = { invoke: asking, after: { 700.5: 'over' } };
    const saga = drive(machine({ initial: 'asking', states: { asking: patient, over } }));
    await saga.start();
    expect(saga.suspended.due).toBe(Math.ceil(saga.world.time + 700.5));
    const forEver = drive(
      machine({ initial: 'asking', states: { asking: { invoke: asking }, over } }),
    );
    await forEver.start();
    expect(forEver.suspended).not.toHaveProperty('due');
  });

  it.each<Src>(['work', 'look'])(
    '[W6] gets `due` 0 if %s can run beside a question',
    async (src) => {
      const works = {
        initial: 'a',
        states: { a: doing(src, 'a', 'b'), b: doing(src, 'b', 'over'), over },
      };
      const asks = { initial: 'a', states: { a: { invoke: asking }, over } };
      const saga = drive(machine({ type: 'parallel', states: { works, asks } }));
      await saga.start({}, { replace: { commitsEach: true } });
      expect([ran, saga.asked]).toEqual([['a'], ['ask']]);
      expect(saga.suspended.due).toBe(0);
      await saga.resume({}, { replace: { commitsEach: true } });
      expect(ran).toEqual(['a', 'b']);
      expect(await saga.resume({ ask: accept({ n: 1 }) })).toMatchObject({ status: 'completed' });
    },
  );
});

function hostOf(
  program: Program,
  store: boolean,
): { readonly host: SagaHost; readonly clock: TestClock } {
  const clock = testClock();
  const hooks = { onTurn: () => undefined, onWarning: () => undefined };
  const anonymous = { tasks: 'accept', resumableRequests: 'accept' } as const;
  const options = {
    keys: 'ephemeral',
    name: 'test',
    testing: { environment: 'test', clock, sleep: sleepOn(clock) },
    hooks,
    anonymous,
  } as const;
  return {
    host: createSagaHost({
      ...options,
      sagas: [program],
      ...(store ? { store: memoryStore({ clock }) } : {}),
    }),
    clock,
  };
}

describe('a machine as a task', () => {
  const waitsThen = (next: object): AnyStateMachine =>
    machine({
      initial: 'waiting',
      states: { waiting: { after: { [minute]: 'next' } }, next, over },
    });

  it('[W7] that only waits has the same result on any process', async () => {
    const { host, clock } = hostOf(sagaOf(waitsThen(over), { task: 'prefer' }), true);
    const client = taskClient(host);
    const taskId = await client.start('m');
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    clock.now += minute;
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'ended' }] },
    });
  });

  it.each<Src>(['work', 'look'])(
    '[W1] [W7] runs %s after its responses, never before them',
    async (src) => {
      let go: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      const slow = async ({ input }: { input: string }): Promise<string> => {
        await held;
        return named({ input });
      };
      const provided = chain(src).provide({
        actors: { work: step(slow) as never, look: fromPromise(slow) as never },
      });
      const { host } = hostOf(sagaOf(provided, { task: 'prefer' }), true);
      const client = taskClient(host);
      const taskId = await client.start('m');
      expect(await client.get(taskId)).toMatchObject({ status: 'working' });
      expect(ran).toEqual([]);
      go();
      await client.idle();
      expect(ran).toEqual([`${src}0`]);
      expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
    },
  );

  it('[W6] continues by its clock, although its question has no answer', async () => {
    const states = {
      first: doing('work', 'first', 'asking'),
      asking: { invoke: asking, after: { [minute]: 'late' } },
      late: doing('work', 'late', 'over'),
      over,
    };
    const { host, clock } = hostOf(
      sagaOf(machine({ initial: 'first', states }), { task: 'prefer' }),
      true,
    );
    const client = taskClient(host);
    const taskId = await client.start('m');
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    clock.now += minute;
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
    expect(ran).toEqual(['first', 'late']);
  });
});

it.each<readonly Src[]>([
  ['work', 'work', 'work'],
  ['look', 'work', 'look'],
])(
  '[W1] [U4] a resumable request sends a token before %s, and after each step',
  async (...sources) => {
    const { host } = hostOf(sagaOf(chain(...sources)), false);
    const meta = {
      'io.modelcontextprotocol/clientCapabilities': { resumableRequests: {}, elicitation: {} },
    };
    const params = { name: 'm', arguments: {}, _meta: meta };
    const call = post('modern', 'tools/call', params, 1, { headers: { 'mcp-name': 'm' } });
    const { messages } = await read(await handlerOf(host).fetch(call));
    const tokens = messages.flatMap(({ method, params: told }) =>
      method === policy ? [told?.['resumeToken']] : [],
    );
    // The last step ends the saga: there is nothing to resume after it.
    expect(new Set(tokens).size).toBe(sources.length);
    expect(ran).toHaveLength(sources.length);
    expect(messages.at(-1)).toMatchObject({ result: { content: [{ text: 'ended' }] } });
  },
);
