import { memoryStore, createSagaHost, type SagaHost, type StepContext } from '@mcp-saga/server';
import { approval, machineSaga, step, waitFor } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';

/** Mails and URLs that were sent, and refunds that were made. */
export const sent: string[] = [];
export const refunds: number[] = [];
const mail = { send: (_to: string, text: string, _key: string): void => void sent.push(text) };
const bank = {
  refund: (amount: number, _key: string): void => void refunds.push(amount),
  checkout: (url: string, _key: string): void => void sent.push(url),
};

const day = 86_400_000;

// #region approval
const refund = setup({
  types: {
    input: {} as { amount: number },
    context: {} as { amount: number },
    output: {} as string,
  },
  actors: {
    manager: approval({
      message: ({ input }: { input: number }) => `Refund ${input} EUR?`,
      by: { role: 'manager' },
      deliver: ({ url, idempotencyKey }) =>
        mail.send('managers@shop.example', `Decide here: ${url}`, idempotencyKey),
      timeout: 2 * day,
    }),
    refund: step(({ input, idempotencyKey }: StepContext<number>) =>
      bank.refund(input, idempotencyKey),
    ),
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'manager',
        src: 'manager',
        input: ({ context }) => context.amount,
        onDone: [
          { guard: ({ event }) => event.output.approved, target: 'refunding' },
          { target: 'refused' },
        ],
      },
    },
    refunding: {
      invoke: {
        id: 'refund',
        src: 'refund',
        input: ({ context }) => context.amount,
        onDone: 'refunded',
      },
    },
    refunded: { type: 'final' },
    refused: { type: 'final', tags: 'compensate' }, // undoes what ran before
  },
  output: ({ context }) => `A refund of ${context.amount} EUR.`,
});

export const refundByMachine = machineSaga(
  {
    name: 'refund',
    version: '1',
    input: z.object({ amount: z.number() }),
    task: 'prefer',
  },
  refund,
);
// #endregion approval

// #region event
const Paid = z.object({ type: z.literal('payment.paid'), reference: z.string() });

const payment = setup({
  types: { context: {} as { reference: string }, output: {} as string },
  actors: {
    payment: waitFor({
      schema: Paid,
      register: ({ url, idempotencyKey }) => bank.checkout(url, idempotencyKey),
      verify: 'bank',
      timeout: day,
    }),
  },
}).createMachine({
  context: { reference: '' },
  initial: 'waiting',
  states: {
    waiting: {
      invoke: {
        id: 'payment',
        src: 'payment',
        onDone: {
          target: 'over',
          actions: assign({ reference: ({ event }) => event.output.reference }),
        },
        onError: 'over', // StepTimedOut
      },
    },
    over: { type: 'final' },
  },
  output: ({ context }) => (context.reference === '' ? 'Not paid.' : `Paid: ${context.reference}`),
});

export const payByMachine = machineSaga({ name: 'pay', version: '1', task: 'prefer' }, payment);
// #endregion event

export const machineHost = (url: string): SagaHost =>
  createSagaHost({
    sagas: [refundByMachine, payByMachine],
    name: 'shop',
    keys: 'ephemeral',
    store: memoryStore(),
    url,
    webhooks: { bank: (request) => request.headers.get('authorization') === 'bank' },
    auth: { mayAnswer: ({ subject }) => subject === 'ann' },
  });
