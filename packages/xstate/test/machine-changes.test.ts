import {
  elicit,
  MachineMismatch,
  machineSaga,
  step,
  type MachineSagaOptions,
} from '@mcp-saga/xstate';
import { setup, spawnChild, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

const Well = z.object({ n: z.number() });
const done: string[] = [];
const actors = {
  ask: elicit({ message: 'Well?', schema: Well }),
  pay: step(() => void done.push('pay'), { compensate: () => void done.push('refund') }),
};

type Options = Omit<MachineSagaOptions<undefined, undefined>, 'name' | 'version' | 'reuse'>;
const programOf = (machine: AnyStateMachine, options: Options = {}) =>
  machineSaga({ name: 'm', version: '1', reuse: 'ok', ...options }, machine as never);

const asks = (id: string, onDone: string): object => ({ invoke: { id, src: 'ask', onDone } });

/** A machine that pays, and then asks a person and a boss at once. */
function machineOf(person: object, regions: object = {}, more: object = {}): AnyStateMachine {
  return setup({ types: { output: {} as string }, actors }).createMachine({
    id: 'm',
    initial: 'paying',
    states: {
      paying: { invoke: { id: 'pay', src: 'pay', onDone: 'both' } },
      both: {
        type: 'parallel',
        states: {
          person: {
            initial: 'asking',
            states: { asking: asks('person', 'answered'), answered: { type: 'final' } },
            ...person,
          },
          boss: {
            initial: 'asking',
            states: { asking: asks('boss', 'answered'), answered: { type: 'final' } },
          },
          ...regions,
        },
        onDone: 'end',
      },
      end: { type: 'final' },
      ...more,
    },
    output: 'ended',
  } as never) as unknown as AnyStateMachine;
}

/** A saga whose first region has ended, continued by another program. */
async function answeredOnce(from: AnyStateMachine, to: AnyStateMachine, options: Options = {}) {
  const drive = new Drive(programOf(from));
  await drive.start();
  await drive.resume({ person: accept({ n: 1 }) });
  expect(drive.asked).toEqual(['boss']);
  drive.program = programOf(to, options);
  return drive;
}

const added = { added: {} };
const boss = { boss: accept({ n: 1 }) };

describe('a machine that is changed after a parallel region has ended', () => {
  it('[R3] continues if the change affects no active state', async () => {
    const drive = await answeredOnce(machineOf({}), machineOf({}, {}, added));
    expect(await drive.resume(boss)).toMatchObject({ status: 'completed', result: 'ended' });
  });

  it('[R3] continues if the region that ended has an onDone that was not taken', async () => {
    const person = { onDone: { target: '#m.end', guard: () => false } };
    const drive = await answeredOnce(machineOf(person), machineOf(person, {}, added));
    expect(await drive.resume(boss)).toMatchObject({ status: 'completed' });
  });

  it('[R5] continues as its migration determines', async () => {
    const drive = await answeredOnce(machineOf({}), machineOf({}, { third: { type: 'final' } }), {
      migrate: (state) => ({
        ...state,
        value: { both: { ...(state.value as { readonly both: object }).both, third: {} } },
      }),
    });
    expect(await drive.resume(boss)).toMatchObject({ status: 'completed' });
  });

  it('[R3] is a mismatch if a waiting state is final now and its onDone would never be taken', async () => {
    const states = { asking: {}, answered: { type: 'final' } };
    const waits = { initial: 'asking', states, onDone: '#m.end' };
    const drive = new Drive(programOf(machineOf({}, { idle: waits })));
    await drive.start();
    drive.program = programOf(
      machineOf({}, { idle: { ...waits, states: { asking: { type: 'final' } } } }),
    );
    expect(failureOf(await drive.resume()).error).toMatchObject({
      incompatibilities: ["the state 'm.both.idle' has completed, and its onDone was never taken"],
    });
  });

  it('[R3] is a mismatch if a migration completes the whole machine', async () => {
    const drive = await answeredOnce(machineOf({}), machineOf({}, { third: {} }), {
      migrate: (state) => ({ ...state, value: 'end', children: {} }),
    });
    expect(failureOf(await drive.resume(boss)).error).toMatchObject({
      incompatibilities: ["the state 'm.end' is final now"],
    });
  });
});

describe('a machine with a spawned actor', () => {
  it('[R3] continues if another state loses its invoke with the same ID', async () => {
    const machine = (idle: object): AnyStateMachine =>
      setup({ actors }).createMachine({
        initial: 'asking',
        states: { idle, asking: { entry: spawnChild('ask', { id: 'person' }) } },
        output: 'ended',
      } as never) as unknown as AnyStateMachine;
    const drive = new Drive(programOf(machine(asks('person', 'asking'))));
    await drive.start();
    drive.program = programOf(machine({}));
    await drive.resume();
    expect(drive.asked).toEqual(['person']);
  });
});

describe('a failing migration', () => {
  const other = machineOf({}, { third: asks('third', '#m.end') });
  const thrown = new Error('not this one');
  const nonsense: readonly [string, (state: never) => unknown][] = [
    [
      'throws',
      () => {
        throw thrown;
      },
    ],
    ['returns nothing', () => undefined],
    ['returns a promise that rejects', async () => Promise.reject(thrown)],
    ['returns text', () => 'both'],
    ['returns no children', (state: object) => ({ ...state, children: undefined })],
    [
      'returns a child that is not an object',
      (state: object) => ({ ...state, children: { boss: 1 } }),
    ],
    [
      'returns a delay at no time',
      (state: object) => ({ ...state, delays: [{ at: 'soon', actor: '', id: 'x' }] }),
    ],
    ['returns delays that are no list', (state: object) => ({ ...state, delays: {} })],
    [
      'returns a context with a function',
      (state: object) => ({ ...state, context: { f: () => 1 } }),
    ],
    [
      'returns a context with a cycle',
      (state: object) => {
        const context: Record<string, unknown> = {};
        context['self'] = context;
        return { ...state, context };
      },
    ],
    ['returns a value of numbers', (state: object) => ({ ...state, value: { both: 1 } })],
    [
      'returns attempts that are none',
      (state: object) => ({ ...state, children: { boss: { kept: { e: 'x' } } } }),
    ],
    ['returns a history of numbers', (state: object) => ({ ...state, history: { 'm.both': [1] } })],
    [
      'returns completed states that are no list',
      (state: object) => ({ ...state, completed: 'm.both' }),
    ],
  ];

  it.each(nonsense)(
    '[R3] is a mismatch with the error as its cause, and undoes nothing: it %s',
    async (_, migrate) => {
      const drive = await answeredOnce(machineOf({}), other, { migrate: migrate as never });
      const { outcome: before } = drive;
      done.length = 0;
      const { error, compensated, uncompensated } = failureOf(await drive.resume(boss));
      expect(error).toBeInstanceOf(MachineMismatch);
      expect(error).toMatchObject({ code: 'replay_mismatch', cause: expect.any(Error) as unknown });
      expect([done, compensated, uncompensated]).toEqual([[], [], []]);
      // The token is still good for the code it was made with.
      drive.outcome = before;
      drive.program = programOf(machineOf({}));
      expect(await drive.resume(boss)).toMatchObject({ status: 'completed' });
    },
  );

  it('[R3] cannot change the returned state afterwards', async () => {
    const context: Record<string, unknown> = {};
    const migrate: Options['migrate'] = (state) => ({ ...state, context });
    const drive = await answeredOnce(machineOf({}), machineOf({}, {}, added), {
      drift: 'refuse',
      migrate,
    });
    const turn = drive.resume();
    context['f'] = () => 1;
    await turn;
    expect(drive.asked).toEqual(['boss']);
  });
});

describe('a machine with code that fails before any effect', () => {
  const question = (message: () => string) => elicit({ message, schema: Well });
  const withAsk = (ask: typeof actors.ask): AnyStateMachine =>
    setup({ types: { output: {} as string }, actors: { ...actors, ask } }).createMachine({
      initial: 'paying',
      states: {
        paying: { invoke: { id: 'pay', src: 'pay', onDone: 'asking' } },
        asking: { invoke: { id: 'ask', src: 'ask', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'ended',
    });

  it('[R6] is a mismatch with the error as its cause, and undoes nothing', async () => {
    const thrown = new Error('a bug');
    const drive = new Drive(programOf(withAsk(actors.ask)));
    await drive.start();
    const broken = question(() => {
      throw thrown;
    });
    drive.program = programOf(withAsk(broken));
    done.length = 0;
    const { error } = failureOf(await drive.resume({ ask: accept({ n: 1 }) }));
    expect(error).toBeInstanceOf(MachineMismatch);
    expect(error).toMatchObject({ cause: thrown });
    expect(done).toEqual([]);
  });

  it('[R3] is a mismatch if an effect replaces a question', async () => {
    const drive = new Drive(programOf(withAsk(actors.ask)));
    await drive.start();
    drive.program = programOf(withAsk(actors.pay as never));
    done.length = 0;
    expect(failureOf(await drive.resume()).error).toMatchObject({
      incompatibilities: ["the actor 'ask' is of another kind now"],
    });
    expect(done).toEqual([]);
  });

  it('[R3] is a mismatch if the machine waits for nothing', async () => {
    const from = machineOf({}, {}, { idle: {} });
    const drive = new Drive(programOf(from));
    await drive.start();
    const migrate: Options['migrate'] = (state) => ({ ...state, value: 'idle', children: {} });
    drive.program = programOf(machineOf({}, {}, { idle: {}, ...added }), {
      drift: 'refuse',
      migrate,
    });
    expect(failureOf(await drive.resume()).error).toBeInstanceOf(MachineMismatch);
  });
});
