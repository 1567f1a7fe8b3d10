import { ReplayMismatch } from '@mcp-saga/core';
import type { ProgramState } from '@mcp-saga/core/program';
import {
  elicit,
  MachineMismatch,
  machineSaga,
  sample,
  step,
  type MachineSagaOptions,
} from '@mcp-saga/xstate';
import { createSagaHost } from '@mcp-saga/server';
import { publishedTestKeys } from '@mcp-saga/seal';
import { fromPromise, fromTransition, setup, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

const Well = z.object({ n: z.number() });
const actors = {
  ask: elicit({ message: 'Well?', schema: Well }),
  model: sample({ messages: [], maxTokens: 1 }),
  pay: step(() => 'paid', { compensate: () => undefined }),
};

const ran: string[] = [];

/** A machine that pays, then waits for an answer, in states that a test may change. */
function machineOf(states: object, more: object = {}): AnyStateMachine {
  return setup({ types: { output: {} as string }, actors }).createMachine({
    id: 'm',
    initial: 'paying',
    states: {
      paying: { invoke: { id: 'pay', src: 'pay', onDone: Object.keys(states)[0] ?? 'end' } },
      end: { id: 'end', type: 'final' },
      ...states,
    },
    output: 'ended',
    ...more,
  } as never) as unknown as AnyStateMachine;
}

const asking = { invoke: { id: 'ask', src: 'ask', onDone: '#end' } };
type Options = Omit<MachineSagaOptions<undefined, undefined>, 'name' | 'version' | 'reuse'>;
const programOf = (machine: AnyStateMachine, options: Options = {}) =>
  machineSaga({ name: 'm', version: '1', reuse: 'ok', ...options }, machine as never);

/** Starts with one machine, and continues with another one. */
async function changed(
  from: AnyStateMachine,
  to: AnyStateMachine,
  options: Options = {},
): Promise<Drive> {
  const drive = new Drive(programOf(from));
  await drive.start();
  drive.program = programOf(to, options);
  return drive;
}

const hooks = { onWarning: () => undefined };

describe('a machine that changes while a saga is running', () => {
  it('[R3] continues if all stored state fits', async () => {
    const drive = await changed(
      machineOf({ asking }),
      machineOf({
        asking: { ...asking, description: 'new words' },
        added: { initial: 'x', states: { x: {} } },
      }),
    );
    expect(await drive.resume({ ask: accept({ n: 1 }) })).toMatchObject({ status: 'completed' });
  });

  it('[R3] does not continue with `drift: refuse`', async () => {
    const drive = await changed(machineOf({ asking }), machineOf({ asking, added: {} }), {
      drift: 'refuse',
    });
    const { error } = failureOf(await drive.resume());
    expect(error).toMatchObject({ incompatibilities: ['the definition has changed'] });
  });

  const after = { after: { 1_000: 'end' } };
  const both = (regions: object): object => ({ asking: { type: 'parallel', states: regions } });
  const region = { initial: 'a', states: { a: asking } };
  const child = (states: object): object => ({
    asking: {
      invoke: {
        id: 'kid',
        src: setup({ actors }).createMachine({
          id: 'kid',
          initial: 'a',
          states: { ...states, end: { id: 'end', type: 'final' } },
        } as never),
      },
    },
  });
  const counter = fromTransition((count: number) => count + 1, 0);
  const stateless = fromTransition(() => undefined, undefined);
  const works = fromPromise(async () => {
    ran.push('works');
    return await Promise.resolve();
  });
  const changes: readonly [string, AnyStateMachine, AnyStateMachine, readonly string[]][] = [
    [
      'a state that is gone',
      machineOf({ asking }),
      machineOf({}),
      ["the state 'm.asking' is gone", "no active state invokes the actor 'ask' any more"],
    ],
    [
      'a state that has states inside now',
      machineOf({ asking }),
      machineOf({ asking: { ...asking, initial: 'x', states: { x: {} } } }),
      ["the state 'm.asking' has states inside now"],
    ],
    [
      'a state that is final now',
      machineOf({ asking }),
      machineOf({ asking: { type: 'final' } }),
      ["the state 'm.asking' is final now", "no active state invokes the actor 'ask' any more"],
    ],
    [
      'a region that is new',
      machineOf(both({ one: region })),
      machineOf(both({ one: region, two: {} })),
      ["the region 'm.asking.two' is new"],
    ],
    [
      'a state that is not parallel any more',
      machineOf(both({ one: region, two: {} })),
      machineOf({ asking: { initial: 'one', states: { one: region, two: {} } } }),
      ["the state 'm.asking' is not parallel any more"],
    ],
    [
      'an invoke that was never started',
      machineOf({ asking }),
      machineOf({ asking: { invoke: [asking.invoke, { id: 'model', src: 'model' }] } }),
      ["the invoke 'model' of state 'm.asking' was never started"],
    ],
    [
      'an actor of another kind',
      machineOf({ asking }),
      machineOf({ asking: { invoke: { ...asking.invoke, src: setup({}).createMachine({}) } } }),
      ["the actor 'ask' is of another kind now"],
    ],
    [
      'a transition function that is a promise now',
      machineOf({ asking: { ...asking, invoke: [asking.invoke, { id: 'count', src: counter }] } }),
      machineOf({ asking: { ...asking, invoke: [asking.invoke, { id: 'count', src: works }] } }),
      ["the actor 'count' is of another kind now"],
    ],
    [
      'a transition function without a state that is a promise now',
      machineOf({
        asking: { ...asking, invoke: [asking.invoke, { id: 'count', src: stateless }] },
      }),
      machineOf({ asking: { ...asking, invoke: [asking.invoke, { id: 'count', src: works }] } }),
      ["the actor 'count' is of another kind now"],
    ],
    [
      'a delay that no active state uses',
      machineOf({ asking: { ...asking, ...after } }),
      machineOf({ asking }),
      ["no active state uses the delay '1000.m.asking'"],
    ],
    [
      'a delay that never began',
      machineOf({ asking }),
      machineOf({ asking: { ...asking, ...after } }),
      ["the delay '1000.m.asking' never began"],
    ],
    [
      'a state of a child machine that is gone',
      machineOf(child({ a: asking })),
      machineOf(child({ a: { initial: 'x', states: { x: {} } } })),
      [
        "the state 'kid.a' has states inside now",
        "no active state invokes the actor 'kid/ask' any more",
      ],
    ],
  ];
  it.each(changes)(
    '[R3] names %s, and the token stays valid',
    async (_, from, to, incompatibilities) => {
      const drive = await changed(from, to);
      const outcome = failureOf(await drive.resume());
      expect(ran).toEqual([]);
      expect(outcome.error).toBeInstanceOf(MachineMismatch);
      expect(outcome.error).toBeInstanceOf(ReplayMismatch);
      expect(outcome.error).toMatchObject({
        code: 'replay_mismatch',
        incompatibilities,
        public: false,
      });
      expect([outcome.compensated, outcome.uncompensated]).toEqual([[], []]);
    },
  );

  it('[R3] is undone with `onMismatch: compensate`', async () => {
    const drive = await changed(machineOf({ asking }), machineOf({}), { onMismatch: 'compensate' });
    const outcome = failureOf(await drive.resume());
    expect(outcome.error).toBeInstanceOf(MachineMismatch);
    expect(outcome.compensated).toEqual([{ stepId: 'pay' }]);
  });

  it('[R5] continues with a migrated state', async () => {
    const to = machineOf({
      approving: { invoke: { id: 'approve', src: 'ask', onDone: 'end' }, after: { 1_000: 'end' } },
    });
    const migrate: Options['migrate'] = (state, { incompatibilities }) => {
      expect(incompatibilities).toContain("the state 'm.asking' is gone");
      expect(state).toEqual({ value: 'asking', context: {}, children: { ask: {} }, delays: [] });
      return {
        ...state,
        value: 'approving',
        children: { approve: {} },
        delays: [{ at: 5_000, actor: '', id: '1000.m.approving' }],
      };
    };
    const drive = await changed(machineOf({ asking }), to, { migrate });
    await drive.resume();
    expect(drive.asked).toEqual(['approve']);
    expect(drive.suspended.deadline).toBe(5_000);
    expect(await drive.resume({ approve: accept({ n: 1 }) })).toMatchObject({
      status: 'completed',
    });
  });

  it('[R3] does not continue if the migrated state does not fit', async () => {
    const drive = await changed(machineOf({ asking }), machineOf({}), {
      migrate: (state) => state,
    });
    expect(failureOf(await drive.resume()).error).toBeInstanceOf(MachineMismatch);
  });

  it('[R4] does not continue a state of another XState version', async () => {
    const drive = new Drive(programOf(machineOf({ asking })));
    await drive.start();
    const { state } = drive.suspended;
    const server = state.server.replace('"x":5', '"x":4').replace(/"d":"[^"]*"/, '"d":"other"');
    const older: ProgramState = { ...state, server };
    drive.outcome = { ...drive.suspended, state: older };
    const { error } = failureOf(await drive.resume());
    expect(error).toMatchObject({ incompatibilities: ['the state was stored by XState 4'] });
  });

  it('[R3] undoes nothing if XState does not restore the state', async () => {
    const drive = new Drive(programOf(machineOf({ asking })));
    await drive.start();
    const { state } = drive.suspended;
    drive.outcome = {
      ...drive.suspended,
      state: { ...state, server: state.server.replace('"ask":', '"other":') },
    };
    const outcome = failureOf(await drive.resume());
    expect(outcome.error).toMatchObject({
      incompatibilities: ["XState did not restore the actor 'other'."],
    });
    expect(outcome.compensated).toEqual([]);
  });

  it('[R5] continues with its own version beside a newer one', async () => {
    const older = programOf(machineOf({ asking }));
    const newer = machineSaga(
      { name: 'm', version: '2', reuse: 'ok', previous: [{ saga: older }] },
      machineOf({}) as never,
    );
    const hosts = [older, newer].map((saga) =>
      createSagaHost({
        sagas: [saga],
        keys: `k:${publishedTestKeys[0]}`,
        name: 'm',
        testing: { environment: 'test' },
        hooks,
      }),
    );
    const first = await hosts[0]?.start('m', {});
    if (first?.status !== 'suspended') throw new Error(first?.status);
    const answer = { stepId: 'ask', result: { action: 'accept', content: { n: 1 } } };
    expect(await hosts[1]?.resume(first.token, [answer])).toMatchObject({ status: 'completed' });
  });

  it('keeps state that a migration does not change', async () => {
    const kid = setup({ actors }).createMachine({
      id: 'kid',
      context: { n: 1 },
      initial: 'a',
      states: {
        a: { invoke: { id: 'ask', src: 'ask', onDone: 'b' } },
        b: { type: 'final' },
      },
    });
    const from = machineOf({ asking: { invoke: { id: 'kid', src: kid, onDone: 'end' } } });
    const to = machineOf({ asking: { invoke: { id: 'kid', src: kid, onDone: 'end' } }, added: {} });
    const drive = await changed(from, to, { drift: 'refuse', migrate: (state) => state });
    expect(await drive.resume({ 'kid/ask': accept({ n: 1 }) })).toMatchObject({
      status: 'completed',
    });
  });
});
