import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  Provider,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import '@mcp-saga/testing/vitest';
import { elicit, isDeclined, machineSaga, step } from '@mcp-saga/xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import * as z from 'zod';
import { orderMachine } from './sagas/order-machine.ts';
import { shop } from './sagas/shop.ts';
import { shipping } from './sagas/shipping.ts';

const Sure = z.object({ sure: z.boolean() });
const charged = new Set<string>();

/** Charges, asks, and refunds where the user is not sure. */
const machine = setup({
  types: { context: {} as { id: string }, output: {} as string },
  actors: {
    charge: step(
      ({ idempotencyKey }) => {
        charged.add(idempotencyKey);
        return { id: 'ch_1' };
      },
      {
        compensate: ({ stepKey }) => void charged.delete(stepKey),
        unknown: 'compensate',
      },
    ),
    ask: elicit({ message: 'Sure?', schema: Sure }),
  },
  guards: {
    isDeclined,
    unsure: ({ event }) => (event as { output?: { sure: boolean } }).output?.sure === false,
  },
}).createMachine({
  id: 'pay',
  context: { id: '' },
  initial: 'charging',
  states: {
    charging: {
      invoke: {
        id: 'charge',
        src: 'charge',
        onDone: { target: 'asking', actions: assign({ id: ({ event }) => event.output.id }) },
      },
    },
    asking: {
      invoke: {
        id: 'sure',
        src: 'ask',
        onDone: [{ guard: 'unsure', target: 'back' }, { target: 'paid' }],
        onError: { guard: 'isDeclined', target: 'back' },
      },
    },
    paid: { type: 'final' },
    back: { type: 'final', tags: 'compensate' },
  },
  output: ({ context }) => `Paid by ${context.id}`,
});

const pay = machineSaga({ name: 'pay', version: '1' }, machine);

describe('a machine under test', () => {
  const paid = testSaga(pay, { before: () => charged.clear() }).on.elicit('sure@2', { sure: true });

  beforeEach(() => charged.clear());

  it('runs by a script, and traces the run', async () => {
    const run = await paid.run();
    expect(run.result).toBe('Paid by ch_1');
    expect(run).toHaveRun('charge', { times: 1 });
  });

  it('[E3] compensates when the user declines', async () => {
    const run = await paid.refuse.elicit('sure@2').run();
    expect(run).toHaveCompensated(['charge']);
    expect(run).toLeaveNothingUncompensated();
    expect(charged.size).toBe(0);
  });

  it('uses the stand-in of a script instead of an effect', async () => {
    expect((await paid.on.step('charge', { id: 'ch_9' }).run()).result).toBe('Paid by ch_9');
  });

  it('passes the input to stand-ins for effects and promises', async () => {
    const given: unknown[] = [];
    const test = testSaga(shipping, { input: { cents: 9, card: '4111' } });
    const run = await test.on
      .step('quote', ({ input }) => {
        given.push(input);
        return 8;
      })
      .on.step('charge', ({ input }) => {
        given.push(input);
        return { id: 'ch' };
      })
      .run();
    expect(run.result).toBe('On its way, paid by ch');
    expect(given).toEqual([{ cents: 9 }, { cents: 8, card: '4111' }]);
  });

  it('[R1] [E1] is explored like a generator saga', async () => {
    await crashEverywhere(paid, { check: () => expect(charged.size).toBe(1) });
    const check = ({ status }: { readonly status: string }): void =>
      expect(charged.size).toBe(status === 'completed' ? 1 : 0);
    await failEverywhere(paid, { check });
    await refuseEverywhere(paid, { check });
    await forkEverywhere(paid);
    await assertDeterministic(paid);
  });

  it('[E1] [E3] never repeats an undone effect, wherever the process dies', async () => {
    const sent = testSaga(orderMachine, { before: () => shop.reset() }).on.elicit('sure', {});
    const check = ({ status }: { readonly status: string }): void => {
      const stands = status === 'completed' ? 1 : 0;
      expect([shop.charges.size, shop.shipped.size]).toEqual([stands, stands]);
    };
    await crashEverywhere(sent, { check });
    const failing = sent.fail.step('ship', new Error('no parcels today'), { times: 1 });
    await crashEverywhere(failing.expectFailure('no parcels today'), { check });
  });

  it('[E9] may undo a step that it left before a repeated request ran it', async () => {
    const bank = new Provider<string>();
    const does = (name: string, wait: () => unknown = () => undefined) =>
      step(
        async ({ idempotencyKey }) => {
          await wait();
          return bank.do(idempotencyKey, name);
        },
        { compensate: ({ stepKey }) => bank.undo(stepKey), unknown: 'compensate' },
      );
    const later = async (): Promise<void> => {
      for (let count = 0; count < 5; count += 1)
        await new Promise((resolve) => void setImmediate(resolve));
    };
    const fails = (): never => {
      throw new Error('refused');
    };
    // The failure of the scan defers the label to the next turn, and the machine leaves before.
    const packing = setup({
      types: { output: {} as string },
      actors: {
        scan: does('scan', fails),
        label: does('label'),
        pack: does('pack', later),
        ask: elicit({ message: 'Sure?', schema: Sure }),
      },
    }).createMachine({
      id: 'parcel',
      initial: 'packing',
      states: {
        packing: {
          type: 'parallel',
          states: {
            one: {
              initial: 'scanning',
              states: {
                scanning: { invoke: { id: 'scan', src: 'scan', onError: 'labelling' } },
                labelling: { invoke: { id: 'label', src: 'label' } },
              },
            },
            other: { invoke: { id: 'pack', src: 'pack', onDone: '#asking' } },
          },
        },
        asking: {
          id: 'asking',
          invoke: { id: 'sure', src: 'ask', onDone: 'sent', onError: 'back' },
        },
        sent: { type: 'final' },
        back: { type: 'final', tags: 'compensate' },
      },
      output: 'Sent.',
    });
    const script = testSaga(machineSaga({ name: 'parcel', version: '1' }, packing), {
      providers: [bank],
    }).refuse.elicit('sure');
    expect((await script.run()).compensated).toEqual(['pack']);
    const died = await script.crash.after('pack').run();
    expect(died.compensated).toEqual(['label', 'pack', 'scan']);
    expect(died.uncompensated).toEqual(['turn 2']);
    await crashEverywhere(script.expectFailure('saga_aborted'), {
      check: () => expect(bank.standing).toEqual([]),
    });
  });
});
