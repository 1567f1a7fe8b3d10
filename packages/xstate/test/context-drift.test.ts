import { elicit, machineSaga, MachineMismatch, type MigratedState } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicit({ message: 'Pay?', schema: z.object({}) });

/** A machine that asks, and then tells its whole context, in its first state or in that of a child. */
function machineOf(context: unknown, version?: string): AnyStateMachine {
  return setup({ actors: { ask } }).createMachine({
    ...(version === undefined ? {} : { version }),
    context,
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'ask', src: 'ask', onDone: 'told' } },
      told: { type: 'final' },
    },
    output: ({ context: told }: { context: unknown }) => JSON.stringify(told),
  } as never) as unknown as AnyStateMachine;
}

const parentOf = (kid: AnyStateMachine): AnyStateMachine =>
  setup({ actors: { kid } }).createMachine({
    initial: 'waiting',
    states: {
      waiting: { invoke: { id: 'kid', src: 'kid', onDone: 'told' } },
      told: { type: 'final', output: ({ event }: { event: { output: string } }) => event.output },
    },
  } as never) as unknown as AnyStateMachine;

type Migrate = (state: MigratedState) => MigratedState;

/** Starts with one machine, and continues with another. */
async function changed(
  from: AnyStateMachine,
  to: AnyStateMachine,
  { migrate, args = {} }: { readonly migrate?: Migrate; readonly args?: object } = {},
): Promise<unknown> {
  const options = { name: 'm', version: '1', reuse: 'ok', input: z.looseObject({}) } as const;
  const run = new Drive(machineSaga(options as never, from as never));
  await run.start(args as never);
  const now = { ...options, ...(migrate === undefined ? {} : { migrate }) };
  run.program = machineSaga(now as never, to as never);
  const [stepId = ''] = run.asked;
  const outcome = await run.resume({ [stepId]: accept({}) });
  if (outcome.status === 'completed') return JSON.parse(String(outcome.result));
  return failureOf(outcome).error;
}

const addsTax: Migrate = (state) => ({ ...state, context: { ...state.context, tax: 2 } });

describe('a key that the initial context has now', () => {
  it.each([
    ['a value', { net: 5 }, { net: 5, tax: 2 }],
    [
      'a function of the input',
      ({ input }: { input: { net: number } }) => ({ net: input.net }),
      ({ input }: { input: { net: number } }) => ({ net: input.net, tax: input.net / 2 }),
    ],
    [
      'a function that spreads the input, and spawns',
      ({ input }: { input: object }) => ({ ...input }),
      ({ input, spawn }: { input: object; spawn: (src: string) => unknown }) => ({
        ...input,
        tax: String(spawn),
      }),
    ],
  ])('is a mismatch, or migrated, if the context is %s', async (_, before, after) => {
    const args = { net: 5 };
    const error = await changed(machineOf(before), machineOf(after), { args });
    expect(error).toBeInstanceOf(MachineMismatch);
    expect(error).toMatchObject({
      incompatibilities: ["the context has no 'tax', which the initial context has now"],
    });
    const migrated = await changed(machineOf(before), machineOf(after), { args, migrate: addsTax });
    expect(migrated).toEqual({ net: 5, tax: 2 });
  });

  it('is a mismatch in the context of a child, too', async () => {
    const error = await changed(
      parentOf(machineOf({ net: 5 })),
      parentOf(machineOf({ net: 5, tax: 2 })),
    );
    expect(error).toMatchObject({
      incompatibilities: ["the context of 'kid' has no 'tax', which the initial context has now"],
    });
  });

  it('is none if the context had it, or has more: actions add keys', async () => {
    const before = { net: 5, tax: 1, note: 'x' };
    expect(await changed(machineOf(before), machineOf({ net: 0, tax: 0 }))).toEqual(before);
  });

  it('is none if the same code leaves it out for this input', async () => {
    const context = ({ input }: { input: { vip?: boolean } }): object =>
      input.vip ? { net: 5, discount: 1 } : { net: 5 };
    const later = ({ input }: { input: { vip?: boolean } }): object => ({
      ...context({ input }),
      tax: 2,
    });
    expect(await changed(machineOf(context), machineOf(context))).toEqual({ net: 5 });
    expect(await changed(machineOf(context), machineOf(later), { migrate: addsTax })).toEqual({
      net: 5,
      tax: 2,
    });
  });

  it.each([
    [
      'never ends with a stand-in',
      ({ input }: { input: { next?: object } }) => {
        let seen = 0;
        for (let at: { next?: object } | undefined = input; at !== undefined; at = at.next)
          seen += 1;
        return { seen };
      },
    ],
    [
      'has a loop over its input',
      ({ input: { end = 1 } }: { input: { end?: number } }) => {
        let seen = 0;
        for (; seen !== end; seen += 1);
        return { seen };
      },
    ],
    [
      'throws for a stand-in',
      ({ input }: { input: { seen?: number } }) => ({ seen: BigInt(input.seen ?? 1).toString() }),
    ],
  ])('is not looked for if the code of the context %s', async (_, context) => {
    const end = await changed(machineOf(context), machineOf(context));
    expect(String((end as { seen: unknown }).seen)).toBe('1');
  });
});

describe('the version of a machine', () => {
  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['is raised', '1', '2', true],
    ['is added', undefined, '2', true],
    ['stays', '1', '1', false],
    ['is none', undefined, undefined, false],
  ])('that %s calls migrate, although all fits', async (_, from, to, isCalled) => {
    let calls = 0;
    const migrate: Migrate = (state) => {
      calls += 1;
      return { ...state, context: { net: 7 } };
    };
    const end = await changed(machineOf({ net: 5 }, from), machineOf({ net: 5 }, to), { migrate });
    expect([calls > 0, end]).toEqual([isCalled, { net: isCalled ? 7 : 5 }]);
  });

  it('that is raised continues without a migration if all fits', async () => {
    expect(await changed(machineOf({ net: 5 }, '1'), machineOf({ net: 5 }, '2'))).toEqual({
      net: 5,
    });
  });
});
