import { Provider } from '@mcp-saga/testing';

interface Refund {
  readonly order: string;
  readonly euros: number;
}

/** What the context of a step has of its call: a provider does each key once. */
interface Call {
  readonly idempotencyKey: string;
}

/** What the context of an undo has of the step. */
interface Undo {
  readonly stepKey: string;
}

/** Payments of a fake bank. */
export const payments: Provider<Refund> = new Provider<Refund>();

export const bank = {
  pay: (order: string, euros: number, { idempotencyKey }: Call): Refund =>
    payments.do(idempotencyKey, { order, euros }),
  takeBack: ({ stepKey }: Undo): void => payments.undo(stepKey),
};

/** Entries in fake books. */
export const entries: Provider<Refund> = new Provider<Refund>();

export const books = {
  add: (order: string, euros: number, { idempotencyKey }: Call): Refund =>
    entries.do(idempotencyKey, { order, euros }),
  strike: ({ stepKey }: Undo): void => entries.undo(stepKey),
};
