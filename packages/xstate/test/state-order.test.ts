import { elicit, machineSaga, type MachineSagaOptions } from '@mcp-saga/xstate';
import { assign, setup, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive, failureOf } from './support/drive.ts';

type Options = Omit<MachineSagaOptions<undefined, undefined>, 'name' | 'version' | 'reuse'>;
type Migrate = NonNullable<Options['migrate']>;

interface Context {
  readonly isAnswered: boolean;
  readonly left: string;
}

/**
 * A region state that leaves all regions after the answer. Only the first of two such states gets
 * to do so.
 */
const leaves = (name: string): object => ({
  always: {
    guard: ({ context }: { readonly context: Context }) => context.isAnswered,
    actions: assign({ left: name }),
    target: '#m.end',
  },
});
const nested = { initial: 'inside', states: { inside: leaves('nested') } };
const flat = leaves('flat');
const asking = {
  invoke: { id: 'ask', src: 'ask', onDone: { actions: assign({ isAnswered: true }) } },
};

// A live actor checks 'nested.inside' before 'flat'. Restored by XState alone, 'flat' comes first.
function machineOf(regions: object, more: object = {}): AnyStateMachine {
  const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
  return setup({
    types: { context: {} as Context, output: {} as string },
    actors: { ask },
  }).createMachine({
    id: 'm',
    context: { isAnswered: false, left: '' },
    initial: 'both',
    states: { both: { type: 'parallel', states: regions }, end: { type: 'final' }, ...more },
    output: ({ context }: { readonly context: Context }) => context.left,
  } as never) as unknown as AnyStateMachine;
}

/** Invokes a machine as a child. */
function parentOf(child: AnyStateMachine, id = 'child'): AnyStateMachine {
  return setup({ types: { output: {} as string }, actors: { child } }).createMachine({
    id: 'parent',
    initial: 'waiting',
    context: { left: '' },
    states: {
      waiting: {
        invoke: {
          id,
          src: 'child',
          onDone: {
            actions: assign({
              left: ({ event }: { readonly event: { readonly output: unknown } }) => event.output,
            }),
            target: 'end',
          },
        },
      },
      end: { type: 'final' },
    },
    output: ({ context }: { readonly context: { readonly left: unknown } }) => context.left,
  } as never) as unknown as AnyStateMachine;
}

const programOf = (machine: AnyStateMachine, options: Options = {}) =>
  machineSaga({ name: 'm', version: '1', reuse: 'ok', ...options }, machine as never);

/** Starts with one machine, continues with another, and answers. */
async function changed(from: AnyStateMachine, to: AnyStateMachine, options: Options = {}) {
  const drive = new Drive(programOf(from));
  await drive.start();
  drive.program = programOf(to, options);
  const looked = await drive.resume();
  return looked.status === 'suspended'
    ? await drive.resume({ [drive.asked[0] ?? '']: accept({ n: 1 }) })
    : looked;
}

const regions = { nested, flat, asking };
const added = { added: {} };

describe('the order of active regions', () => {
  it('[R1] is kept if the machine is unchanged', async () => {
    const outcome = await changed(machineOf(regions), machineOf(regions));
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R3] is kept if the machine changes elsewhere', async () => {
    const outcome = await changed(machineOf(regions), machineOf(regions, added));
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R3] is kept if states are added before the active states', async () => {
    const before = { ...nested, states: { added: {}, ...nested.states, last: {} } };
    const outcome = await changed(machineOf(regions), machineOf({ ...regions, nested: before }));
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R3] is kept in a child machine that changes', async () => {
    const outcome = await changed(
      parentOf(machineOf(regions)),
      parentOf(machineOf(regions, added)),
    );
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R3] is a mismatch if the regions have changed places', async () => {
    const outcome = failureOf(
      await changed(machineOf(regions), machineOf({ asking, flat, nested })),
    );
    expect(outcome.error).toMatchObject({
      code: 'replay_mismatch',
      incompatibilities: ["the active states of 'm' are in another order now"],
    });
  });

  it('[R5] is kept by a migration that keeps the active states', async () => {
    const migrate: Migrate = (state) => ({ ...state, context: { ...state.context, more: 1 } });
    const outcome = await changed(machineOf(regions), machineOf(regions, added), {
      drift: 'refuse',
      migrate,
    });
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R5] is kept by a migration that renames a child machine', async () => {
    const migrate: Migrate = ({ children: { child, ...rest }, ...state }) => ({
      ...state,
      children: { ...rest, ...(child === undefined ? {} : { renamed: child }) },
    });
    const from = parentOf(machineOf(regions));
    const outcome = await changed(from, parentOf(machineOf(regions), 'renamed'), { migrate });
    expect(outcome).toMatchObject({ status: 'completed', result: 'nested' });
  });

  it('[R5] is the order of a restored value if a migration changes the active states', async () => {
    const migrate: Migrate = (state) => ({
      ...state,
      value: { both: { flat: {}, asking: {}, nested: 'inside' } },
    });
    const outcome = await changed(machineOf(regions), machineOf({ asking, flat, nested }), {
      migrate,
    });
    expect(outcome).toMatchObject({ status: 'completed', result: 'flat' });
  });

  it('[R5] is the order of a restored value if a migration drops it', async () => {
    const migrate: Migrate = (state) => ({ ...state, order: undefined });
    const outcome = await changed(machineOf(regions), machineOf({ asking, flat, nested }), {
      migrate,
    });
    expect(outcome).toMatchObject({ status: 'completed', result: 'flat' });
  });

  it.each([1, {}, { of: 1, positions: [] }, { of: '', positions: 'x' }])(
    '[R3] is a mismatch if a migration returns an invalid order: %j',
    async (order) => {
      const migrate = ((state: object) => ({ ...state, order })) as unknown as Migrate;
      const outcome = await changed(machineOf(regions), machineOf(regions, added), {
        drift: 'refuse',
        migrate,
      });
      expect(failureOf(outcome).error).toMatchObject({ code: 'replay_mismatch' });
    },
  );
});
