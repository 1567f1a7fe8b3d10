import type { Program } from '@mcp-saga/core';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import {
  assign,
  fromPromise,
  raise,
  sendParent,
  sendTo,
  setup,
  type AnyStateMachine,
} from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

const again = { target: 'a', reenter: true } as const;
const { createMachine } = setup({
  actors: {
    ask: elicit({ message: 'Well?', schema: z.object({}), fallback: () => ({}) }),
  },
});

const echo = setup({}).createMachine({
  initial: 'a',
  states: { a: { on: { PING: { actions: sendParent({ type: 'PONG' }) } } } },
});
const sends = sendTo('echo', { type: 'PING' });

/** Machines that go in a circle, each in another way. */
const circles: Readonly<Record<string, AnyStateMachine>> = {
  'transitions without an event': createMachine({
    initial: 'a',
    states: { a: { always: 'b' }, b: { always: 'a' } },
  }),
  'a transition without an event that changes its context': setup({
    types: { context: {} as { n: number } },
  }).createMachine({
    context: { n: 0 },
    always: { actions: assign({ n: ({ context }) => context.n + 1 }) },
  }),
  'events that it raises': createMachine({
    initial: 'a',
    states: { a: { entry: raise({ type: 'X' }), on: { X: again } } },
  }),
  'delays of no time': createMachine({
    initial: 'a',
    states: { a: { after: { 0: 'b' } }, b: { after: { 0: 'a' } } },
  }),
  'questions that are answered here': createMachine({
    initial: 'a',
    states: { a: { invoke: { id: 'ask', src: 'ask', onDone: again } } },
  }),
  'a child that answers': setup({ actors: { echo } }).createMachine({
    invoke: { id: 'echo', src: 'echo' },
    entry: sends,
    on: { PONG: { actions: sends } },
  }),
};

function programOf(machine: AnyStateMachine): Program {
  return machineSaga({ name: 'round', version: '1' }, machine);
}

describe('a machine with a cycle', () => {
  it.each(Object.entries(circles))(
    '[T11] fails with its place in the cycle: %s',
    async (_, machine) => {
      const drive = new Drive(programOf(machine));
      const { error } = failureOf(
        await drive.start(
          {},
          { limits: { maxCommands: 500 }, replace: { route: () => 'fallback' } },
        ),
      );
      expect(error).toMatchObject({ code: 'limit_exceeded', public: false });
      expect((error as Error).message).toMatch(
        /^The machine of saga 'round' exceeded 500 steps in one turn, with .* in state .*loop/,
      );
    },
  );

  let ran = 0;
  it.each([
    ['steps', step(() => (ran += 1))],
    ['promises', fromPromise(async () => (ran += 1))],
  ])('[T11] fails by its %s when the journal is full', async (_, runs) => {
    ran = 0;
    const machine = setup({ actors: { runs } }).createMachine({
      initial: 'a',
      states: { a: { invoke: { id: 'runs', src: 'runs', onDone: again } } },
    });
    const drive = new Drive(programOf(machine));
    const { error } = failureOf(await drive.start({}, { limits: { maxJournalEntries: 20 } }));
    expect(error).toMatchObject({ code: 'limit_exceeded' });
    expect(ran).toBe(19);
  });

  it('[T11] may end before the step limit of a turn, and not after', async () => {
    const countdown = setup({
      types: { context: {} as { n: number }, output: {} as string },
      actors: { ask: elicit({ message: 'Well?', schema: z.object({}) }) },
    }).createMachine({
      context: { n: 10 },
      initial: 'counting',
      states: {
        counting: {
          always: [
            { guard: ({ context }) => context.n === 0, target: 'asking' },
            { actions: assign({ n: ({ context }) => context.n - 1 }) },
          ],
        },
        asking: {
          invoke: {
            id: 'ask',
            src: 'ask',
            onDone: { target: 'counting', actions: assign({ n: 10 }) },
            onError: 'left',
          },
        },
        left: { type: 'final' },
      },
      output: 'left',
    });
    // The machine counts ten times before it reaches the question.
    const drive = new Drive(programOf(countdown));
    await drive.start({}, { limits: { maxCommands: 11 } });
    expect(drive.asked).toEqual(['ask']);
    // An answer is a step more.
    const before = drive.outcome;
    await drive.resume({ ask: accept({}) }, { limits: { maxCommands: 12 } });
    expect(drive.asked).toEqual(['ask@2']);
    drive.outcome = before;
    const { error } = failureOf(
      await drive.resume({ ask: accept({}) }, { limits: { maxCommands: 11 } }),
    );
    expect(error).toMatchObject({ code: 'limit_exceeded' });
    const other = new Drive(programOf(countdown));
    expect(await other.start({}, { limits: { maxCommands: 10 } })).toMatchObject({
      status: 'failed',
    });
  });

  it('[T11] [E3] is undone', async () => {
    const did: string[] = [];
    const charge = step(() => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    const machine = setup({ actors: { charge } }).createMachine({
      initial: 'charging',
      states: {
        charging: { invoke: { id: 'charge', src: 'charge', onDone: 'round' } },
        round: { always: 'and' },
        and: { always: 'round' },
      },
    });
    const drive = new Drive(machineSaga({ name: 'round', version: '1', reuse: 'ok' }, machine));
    const { compensated } = failureOf(await drive.start({}, { limits: { maxCommands: 100 } }));
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    expect(did).toEqual(['charge', 'refund']);
  });
});
