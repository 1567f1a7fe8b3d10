import { elicit, machineSaga } from '@mcp-saga/xstate';
import {
  assign,
  cancel,
  createActor,
  raise,
  sendParent,
  sendTo,
  setup,
  SimulatedClock,
  type AnyStateMachine,
} from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Drive } from './support/drive.ts';

const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
const second = 1_000;

type Action = object;
const later = (type: string, delay: number, id?: string): Action =>
  raise({ type }, { delay: delay * second, ...(id === undefined ? {} : { id }) });
const heard = assign({
  heard: ({ context, event }: { context: { heard: string }; event: { type: string } }) =>
    context.heard + event.type,
});
const hears = { A: { actions: heard }, B: { actions: heard }, C: { actions: heard } };
const cancelX = cancel('x');

/** A machine that does something at each of these seconds, and notes which events it gets. */
function machineOf(
  acts: Readonly<Record<number, readonly Action[]>>,
  more: object = {},
): AnyStateMachine {
  const after = Object.entries(acts).map(([at, actions]) => [Number(at) * second, { actions }]);
  const actors = { ask, kid: kid(), ...more };
  return setup({ types: { context: {} as { heard: string } }, actors: actors }).createMachine({
    id: 'm',
    context: { heard: '' },
    on: hears,
    initial: 'open',
    states: {
      open: {
        invoke: { id: 'ask', src: 'ask' },
        after: Object.fromEntries(after) as never,
        ...more,
      },
    },
  } as never) as unknown as AnyStateMachine;
}

/** A child that tells its parent something later, twice by one ID, and has ended by then. */
function kid(): AnyStateMachine {
  return setup({}).createMachine({
    initial: 'a',
    states: {
      a: {
        entry: [
          sendParent({ type: 'A' } as never, { delay: 5 * second, id: 'x' }),
          sendParent({ type: 'B' } as never, { delay: 4 * second, id: 'x' }),
        ],
        after: { [second]: 'b' },
      },
      b: { type: 'final' },
    },
  });
}

function ofLive(machine: AnyStateMachine, seconds: number): string {
  const clock = new SimulatedClock();
  const actor = createActor(machine, { clock });
  actor.start();
  for (let at = 0; at < seconds; at += 1) clock.increment(second);
  return (actor.getSnapshot().context as { heard: string }).heard;
}

async function ofSaga(machine: AnyStateMachine, seconds: number, each: number): Promise<string> {
  const drive = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));
  await drive.start();
  for (let at = 0; at < seconds; at += each) {
    drive.world.time += each * second;
    await drive.resume();
  }
  const [{ m }] = JSON.parse(`[${drive.suspended.state.server}]`) as [
    { m: { c: { heard: string } } },
  ];
  return m.c.heard;
}

const cases: readonly [string, AnyStateMachine, string][] = [
  [
    'the second one is cancelled',
    machineOf({ 1: [later('A', 5, 'x'), later('B', 9, 'x')], 2: [cancelX] }),
    'A',
  ],
  [
    'a second cancel finds nothing',
    machineOf({ 1: [later('A', 5, 'x'), later('B', 9, 'x')], 2: [cancelX], 3: [cancelX] }),
    'A',
  ],
  [
    'nothing is cancelled after the first one was sent',
    machineOf({ 1: [later('A', 2, 'x'), later('B', 5, 'x')], 4: [cancelX] }),
    'AB',
  ],
  [
    'a third one takes the ID over',
    machineOf({
      1: [later('A', 2, 'x'), later('B', 5, 'x')],
      4: [later('C', 5, 'x')],
      5: [cancelX],
    }),
    'AB',
  ],
  [
    'the one that was scheduled last is sent first',
    machineOf({ 1: [later('A', 5, 'x'), later('B', 2, 'x')], 4: [cancelX] }),
    'BA',
  ],
  [
    'other IDs have nothing to do with it',
    machineOf({ 1: [later('A', 5, 'y'), later('B', 6)], 2: [cancelX] }),
    'AB',
  ],
  [
    'a child that has ended sent them',
    machineOf({}, { entry: [], exit: [], tags: [], ...invokesKid() }),
    'A',
  ],
];

function invokesKid(): object {
  return {
    invoke: [
      { id: 'ask', src: 'ask' },
      { id: 'kid', src: 'kid' },
    ],
  };
}

describe('events that are delayed with one ID', () => {
  it.each(cases)('[R1] behave as in XState: %s', async (_, machine, expected) => {
    expect(ofLive(machine, 12)).toBe(expected);
    expect(await ofSaga(machine, 12, 1)).toBe(expected);
    expect(await ofSaga(machine, 12, 12)).toBe(expected);
  });

  it('[R1] can be sent to another actor', async () => {
    const send = (type: string, delay: number): Action =>
      sendTo(({ self }) => self, { type }, { delay: delay * second, id: 'x' });
    const machine = machineOf({ 1: [send('A', 5), send('B', 9)], 2: [cancelX], 3: [cancelX] });
    expect(ofLive(machine, 12)).toBe('A');
    expect(await ofSaga(machine, 12, 1)).toBe('A');
  });
});

describe('a delay of fractional milliseconds', () => {
  it('[W6] rounds a delay up to whole milliseconds', async () => {
    const machine = setup({ types: { output: {} as string }, actors: { ask } }).createMachine({
      initial: 'open',
      states: {
        open: { invoke: { id: 'ask', src: 'ask' }, after: { [3_600_000 / 7]: 'end' } },
        end: { type: 'final' },
      },
      output: 'over',
    });
    const drive = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine));
    await drive.start();
    const began = drive.world.time;
    const { due, deadline, state } = drive.suspended;
    expect([due, deadline]).toEqual([began + 514_286, began + 514_286]);
    expect(state.server).toContain(`"t":[[${began + 514_286},`);
    drive.world.time += 514_285;
    expect(await drive.resume()).toMatchObject({ status: 'suspended' });
    drive.world.time += 1;
    expect(await drive.resume()).toMatchObject({ status: 'completed', result: 'over' });
  });
});
