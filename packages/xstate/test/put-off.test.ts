import { engineOf } from '@mcp-saga/core/program';
import { compensator, SagaCancelled } from '@mcp-saga/core';
import {
  elicit,
  machineSaga,
  step,
  type StepLogicOptions,
  type MachineSagaOptions,
} from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { orphan } from '../../core/src/turn/turn-without-code.ts';
import { runtimeOf } from '../../core/test/support/world.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicit({ message: 'How much?', schema: z.object({ n: z.number() }) });

interface Till {
  readonly told: string[];
  readonly drive: Drive;
  /** Outcome of later attempts: the response is dropped, the attempt fails, or it succeeds. */
  goes: 'lost' | 'wrong' | 'well';
  readonly programOf: (
    version: 'as it was' | 'changed',
    options?: Pick<MachineSagaOptions<undefined, undefined>, 'migrate'>,
  ) => Drive['program'];
}

type Options = Pick<StepLogicOptions<number, { n: number }>, 'once' | 'compensate' | 'unknown'>;

/**
 * Charges, with an hour between its attempts, and asks beside that how much: answered, it charges
 * that instead.
 */
function till(effectOptions?: Options): Till {
  const told: string[] = [];
  const given: Options = effectOptions ?? {
    compensate: ({ outcome, input, stepKey }) =>
      void told.push(`${outcome === 'done' ? 'refund' : 'look for'} ${input.n} ${stepKey}`),
    unknown: 'compensate',
  };
  const charge = step(
    ({ input, idempotencyKey }: { input: { n: number }; idempotencyKey: string }) => {
      told.push(`charge ${input.n} ${idempotencyKey}`);
      if (made.goes === 'lost')
        throw Object.assign(new Error('no answer'), { code: 'outcome_unknown' });
      if (made.goes === 'wrong') throw new Error('not now');
      return input.n;
    },
    {
      ...given,
      retry: { attempts: 3, delay: 3_600_000, jitter: false },
    },
  );
  const programOf: Till['programOf'] = (version, options) => {
    const states = {
      paying: {
        initial: 'charging',
        states: {
          charging: {
            invoke: {
              id: 'charge',
              src: 'charge' as const,
              input: ({ context }: { context: { n: number } }) => context,
              onDone: 'charged',
            },
          },
          charged: {},
        },
      },
      [version]: {
        invoke: {
          id: 'ask',
          src: 'ask' as const,
          onDone: {
            target: '#all',
            reenter: true,
            actions: assign({
              n: ({ event }: { event: { output: { n: number } } }) => event.output.n,
            }),
          },
          onError: '#left',
        },
      },
    };
    const machine = setup({
      types: { context: {} as { n: number }, output: {} as string },
      actors: { ask, charge },
    }).createMachine({
      context: { n: 5 },
      initial: 'all',
      states: {
        all: { id: 'all', type: 'parallel', states },
        left: { id: 'left', type: 'final', tags: 'compensate' },
      },
    } as never);
    return machineSaga(
      { name: 'till', version: '1', reuse: 'ok', onMismatch: 'compensate', ...options },
      machine as never,
    );
  };
  const made: Till = { told, programOf, goes: 'lost', drive: new Drive(programOf('as it was')) };
  return made;
}

const refused = { ask: { action: 'decline' } };

describe('a deferred effect after an attempt of unknown outcome', () => {
  it('[E4] is undone, however the saga ends', async () => {
    const { told, drive, programOf } = till();
    await drive.start();
    const ends = [
      () => drive.end(new SagaCancelled()),
      () => drive.resume(refused),
      () => {
        drive.program = programOf('changed');
        return drive.resume();
      },
    ];
    const { outcome } = drive;
    for (const end of ends) {
      drive.outcome = outcome;
      told.length = 0;
      const { compensated, uncompensated } = failureOf(await end());
      expect({ compensated, uncompensated }).toEqual({
        compensated: [{ stepId: 'charge' }],
        uncompensated: [],
      });
      expect(told).toEqual(['look for 5 do:charge']);
    }
  });

  it('[E4] [R3] is uncompensated without its code', async () => {
    const { told, drive } = till();
    await drive.start();
    const gone = orphan('till', new Error('gone'));
    const { state } = drive.suspended;
    const { compensated, uncompensated } = failureOf(
      await gone.advance(state, new Map(), runtimeOf(drive.world)),
    );
    expect({ compensated, uncompensated }).toEqual({
      compensated: [],
      uncompensated: [{ stepId: 'charge' }],
    });
    expect(told).toEqual(['charge 5 do:charge']);
    expect(engineOf(drive.program).timeline(state)).toMatchObject([
      { kind: 'machine' },
      { kind: 'step', path: 'charge', outcome: 'to be tried again' },
    ]);
  });

  it('[E4] is undone as completed after a successful attempt', async () => {
    const made = till();
    const { told, drive } = made;
    await drive.start();
    drive.world.time += 3_600_000;
    await drive.resume();
    expect(engineOf(drive.program).timeline(drive.suspended.state)).toHaveLength(2);
    made.goes = 'well';
    drive.world.time += 3_600_000;
    await drive.resume();
    expect(failureOf(await drive.resume(refused))).toMatchObject({ uncompensated: [] });
    const charge = 'charge 5 do:charge';
    expect(told).toEqual([charge, charge, charge, 'refund 5 do:charge']);
    const begun = drive.world.events
      .filter(({ type }) => type === 'started')
      .map(({ path }) => path);
    expect(begun).toEqual(['charge', 'charge', 'charge', '~charge']);
  });

  it('[E1] [E4] is another run if a migration restarts it', async () => {
    const made = till();
    const { told, drive, programOf } = made;
    await drive.start();
    made.goes = 'well';
    drive.program = programOf('changed', {
      migrate: ({ children, ...state }) => ({
        ...state,
        value: { all: { paying: 'charging', changed: {} } },
        children: { ...children, charge: { input: { n: 6 } } },
      }),
    });
    await drive.resume();
    await drive.end(new SagaCancelled());
    expect(told).toEqual([
      'charge 5 do:charge',
      'charge 6 do:charge#2',
      'look for 5 do:charge',
      'refund 6 do:charge#2',
    ]);
  });

  it('[E4] is not undone without an undo', async () => {
    const { told, drive } = till({});
    await drive.start();
    expect(failureOf(await drive.end(new SagaCancelled()))).toMatchObject({
      compensated: [],
      uncompensated: [],
    });
    expect(told).toEqual(['charge 5 do:charge']);
  });

  it('[E4] is undone if the journal has no room to record it', async () => {
    const { told, drive } = till();
    await drive.start();
    const outcome = await drive.resume(
      { ask: accept({ n: 7 }) },
      { limits: { maxJournalEntries: 1 } },
    );
    expect(failureOf(outcome)).toMatchObject({
      error: { code: 'limit_exceeded' },
      compensated: [{ stepId: 'charge' }],
    });
    expect(told).toEqual(['charge 5 do:charge', 'look for 5 do:charge']);
  });

  it('[E4] leaves journal room for running effects', async () => {
    const told: unknown[] = [];
    const back = compensator('back', z.object({}), ({ stepKey }) => void told.push(stepKey));
    const machine = setup({
      actors: {
        charge: step(
          () => {
            throw Object.assign(new Error('no answer'), { code: 'outcome_unknown' });
          },
          {
            retry: { attempts: 2, delay: 3_600_000, jitter: false },
            compensate: ({ stepKey }) => void told.push(stepKey),
            unknown: 'compensate',
          },
        ),
        pack: step(() => drive.world.sleep(10), { compensate: back.for(() => ({})) }),
      },
    }).createMachine({
      type: 'parallel',
      states: {
        paying: {
          initial: 'charging',
          states: {
            charging: { invoke: { id: 'charge', src: 'charge' }, after: { 1_005: 'left' } },
            left: {},
          },
        },
        packing: {
          initial: 'waiting',
          states: {
            waiting: { after: { 1_000: 'packing' } },
            packing: { invoke: { id: 'pack', src: 'pack' } },
          },
        },
      },
    });
    const drive = new Drive(
      machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never),
    );
    drive.world.compensators.set('back', back);
    await drive.start();
    drive.world.time += 1_000;
    expect(failureOf(await drive.resume({}, { limits: { maxJournalEntries: 3 } }))).toMatchObject({
      error: { code: 'limit_exceeded' },
      compensated: [{ stepId: 'charge' }, { stepId: 'pack' }],
      uncompensated: [],
    });
    expect(told).toEqual(['do:charge', 'do:pack']);
  });
});

describe('an effect whose state is left after an attempt', () => {
  it.each([
    { goes: 'wrong', options: undefined, undone: ['refund 7 do:charge#2'] },
    { goes: 'lost', options: undefined, undone: ['refund 7 do:charge#2', 'look for 5 do:charge'] },
    { goes: 'wrong', options: { once: true }, undone: [] },
  ] as const)('[E1] [E4] is another run after a restart: $goes, $options', async (given) => {
    const made = till(given.options);
    const { told, drive } = made;
    made.goes = given.goes;
    await drive.start();
    made.goes = 'well';
    await drive.resume({ ask: accept({ n: 7 }) });
    await drive.end(new SagaCancelled());
    expect(told).toEqual(['charge 5 do:charge', 'charge 7 do:charge#2', ...given.undone]);
  });

  it('[E1] is the same run without an attempt', async () => {
    const made = till();
    const { told, drive } = made;
    made.goes = 'well';
    const defers = { replace: { defersEffects: 'all' as const } };
    await drive.start({}, defers);
    await drive.resume({ ask: accept({ n: 7 }) }, defers);
    await drive.resume();
    expect(told).toEqual(['charge 7 do:charge']);
  });
});
