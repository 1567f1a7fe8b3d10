import type { StepContext } from '@mcp-saga/server';
import { elicit, idempotencyKeyOf, isRefused, machineSaga, step } from '@mcp-saga/xstate';
import { Provider } from '@mcp-saga/testing';
import { assign, fromPromise, setup, type AnyActorRef } from 'xstate';
import { z } from 'zod';

/** Reports that were sent, by idempotency key. */
export const sent: Map<string, string> = new Map();

// #region machine
const Decision = z.object({ approved: z.boolean() });

export const expense = setup({
  types: {
    input: {} as { amount: number },
    context: {} as { amount: number; paid: boolean },
    output: {} as string,
  },
  actors: {
    askManager: elicit({
      message: ({ input }: { input: number }) => `Approve ${input} EUR?`,
      schema: Decision,
    }),
    pay: step(({ input, idempotencyKey }: StepContext<number>) => {
      sent.set(idempotencyKey, `${input} EUR`);
    }),
  },
  guards: { isRefused },
}).createMachine({
  id: 'expense',
  context: ({ input }) => ({ amount: input.amount, paid: false }),
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'decision',
        src: 'askManager',
        input: ({ context }) => context.amount,
        onDone: [
          { guard: ({ event }) => event.output.approved, target: 'paying' },
          { target: 'rejected' },
        ],
        onError: { guard: 'isRefused', target: 'rejected' },
      },
      after: { 3_600_000: 'rejected' },
    },
    paying: {
      invoke: {
        id: 'pay',
        src: 'pay',
        input: ({ context }) => context.amount,
        onDone: { target: 'paid', actions: assign({ paid: true }) },
      },
    },
    paid: { type: 'final' },
    rejected: { type: 'final' },
  },
  output: ({ context }) => (context.paid ? 'Paid.' : 'Not paid.'),
});

export const expenseSaga = machineSaga(
  { name: 'expense', version: '1', input: z.object({ amount: z.number() }) },
  expense,
);
// #endregion machine

/** Refunds at the bank. */
export const refunds: Provider<number> = new Provider();

// #region undo
export const refund = setup({
  types: { context: {} as { kept: boolean }, output: {} as string },
  actors: {
    ask: elicit({ message: 'Keep the refund?', schema: z.object({ keep: z.boolean() }) }),
    pay: step(({ idempotencyKey }: StepContext<undefined>) => void refunds.do(idempotencyKey, 40), {
      compensate: ({ stepKey }) => refunds.undo(stepKey),
    }),
  },
}).createMachine({
  id: 'refund',
  context: { kept: false },
  initial: 'paying',
  states: {
    paying: { invoke: { id: 'refund', src: 'pay', onDone: 'asking' } },
    asking: {
      invoke: {
        id: 'keep',
        src: 'ask',
        onDone: [
          {
            guard: ({ event }) => event.output.keep,
            target: 'kept',
            actions: assign({ kept: true }),
          },
          { target: 'withdrawn' },
        ],
        onError: 'withdrawn',
      },
    },
    kept: { type: 'final' },
    withdrawn: { type: 'final', tags: 'compensate' },
  },
  output: ({ context }) => (context.kept ? 'Refunded.' : 'Withdrawn.'),
});
// #endregion undo

export const refundSaga = machineSaga({ name: 'refund', version: '1' }, refund);

/** A machine that was written for another program, and has no output. */
const parcel = setup({
  types: { context: {} as { tries: number } },
  actors: { ring: elicit({ message: 'Is anybody at home?', schema: Decision }) },
}).createMachine({
  id: 'parcel',
  context: { tries: 0 },
  initial: 'ringing',
  states: {
    ringing: {
      entry: assign({ tries: ({ context }) => context.tries + 1 }),
      invoke: {
        id: 'ring',
        src: 'ring',
        onDone: [
          { guard: ({ event }) => event.output.approved, target: 'delivered' },
          { guard: ({ context }) => context.tries > 1, target: 'returned' },
          { target: 'ringing', reenter: true },
        ],
      },
    },
    delivered: { type: 'final' },
    returned: { type: 'final' },
  },
});

// #region result
export const parcelSaga = machineSaga(
  {
    name: 'parcel',
    version: '1',
    result: ({ value, context }) => `The parcel is ${value}, after ${context.tries} tries.`,
  },
  parcel,
);
// #endregion result

/** A machine of a shop, with events that its pages send. */
const checkout = setup({
  types: {
    input: {} as { order: string; cents: number },
    context: {} as { order: string; cents: number },
    events: {} as { type: 'CONFIRM' } | { type: 'CANCEL' } | { type: 'CHANGE'; cents: number },
  },
  actors: {
    charge: step(({ input, idempotencyKey }: StepContext<{ cents: number }>) => {
      sent.set(idempotencyKey, `${input.cents} cents`);
    }),
  },
}).createMachine({
  id: 'checkout',
  context: ({ input }) => input,
  initial: 'review',
  states: {
    review: {
      on: {
        CONFIRM: 'charging',
        CANCEL: 'cancelled',
        CHANGE: { actions: assign({ cents: ({ event }) => event.cents }) },
      },
    },
    charging: {
      invoke: { id: 'charge', src: 'charge', input: ({ context }) => context, onDone: 'charged' },
    },
    charged: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

// #region asks
const Review = z.object({
  next: z.enum(['pay', 'stop', 'change']),
  cents: z.int().positive().optional(),
});

export const checkoutSaga = machineSaga(
  {
    name: 'checkout',
    version: '1',
    input: z.object({ order: z.string(), cents: z.int() }),
    asks: {
      review: {
        ask: elicit({
          message: ({ input: cents }: { input: number }) => `Pay ${cents / 100} EUR?`,
          schema: Review,
        }),
        input: ({ context }) => context.cents,
        onAnswer: ({ answer: { next, cents }, send }) => {
          if (next === 'pay') send({ type: 'CONFIRM' });
          if (next === 'stop') send({ type: 'CANCEL' });
          if (next === 'change' && cents !== undefined) send({ type: 'CHANGE', cents });
        },
        onError: ({ send }) => send({ type: 'CANCEL' }),
      },
    },
    result: ({ value, context }) => `Order ${context.order} is ${value}.`,
  },
  checkout,
);
// #endregion asks

/** Charges of the shop, by idempotency key. */
export const charges: Provider<number> = new Provider();

// #region promises
interface Charging {
  readonly input: { readonly cents: number };
  readonly self: AnyActorRef;
}

const order = setup({
  types: { input: {} as { cents: number }, context: {} as { cents: number } },
  actors: {
    charge: fromPromise(async ({ input, self }: Charging) =>
      charges.do(idempotencyKeyOf(self), input.cents),
    ),
    confirm: elicit({ message: 'Keep the order?', schema: z.object({}) }),
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'charging',
  states: {
    charging: {
      invoke: { id: 'pay', src: 'charge', input: ({ context }) => context, onDone: 'confirming' },
    },
    confirming: {
      invoke: { id: 'confirm', src: 'confirm', onDone: 'kept', onError: 'dropped' },
    },
    kept: { type: 'final' },
    dropped: { type: 'final', tags: 'compensate' },
  },
});

export const orderSaga = machineSaga(
  {
    name: 'order',
    version: '1',
    input: z.object({ cents: z.int() }),
    steps: { charge: { compensate: ({ stepKey }) => charges.undo(stepKey) } },
    result: ({ value }) => `The order is ${value}.`,
  },
  order,
);
// #endregion promises
