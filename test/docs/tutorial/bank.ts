import { Provider } from '@mcp-saga/testing';

interface Payment {
  readonly order: string;
  readonly euros: number;
}

/** A fake bank for the tests: each idempotency key pays once. */
export const payments: Provider<Payment> = new Provider<Payment>();

export const bank = {
  pay: (order: string, euros: number, key: string): Promise<Payment> =>
    Promise.resolve(payments.do(key, { order, euros })),
  /** Takes back the payment that was made with this key, if there is one. */
  takeBack: (key: string): Promise<void> => Promise.resolve(payments.undo(key)),
};

/** Fake books: each idempotency key makes one entry. */
export const entries: Provider<Payment> = new Provider<Payment>();

export const books = {
  enter: (order: string, euros: number, key: string): Promise<Payment> =>
    Promise.resolve(entries.do(key, { order, euros })),
  /** Strikes the entry that was made with this key, if there is one. */
  strike: (key: string): Promise<void> => Promise.resolve(entries.undo(key)),
};

/** A fake desk where managers decide: undefined while no manager has decided. */
export const desk = {
  ask: (_order: string, _euros: number, _key: string): Promise<void> => Promise.resolve(),
  decision: (_order: string): Promise<'yes' | 'no' | undefined> => Promise.resolve('yes'),
};
