import { Provider } from '@mcp-saga/testing';

/** A fake bank for the tests: each idempotency key pays once. */
export const payments = new Provider();

export const bank = {
  pay: (order, euros, key) => Promise.resolve(payments.do(key, { order, euros })),
  /** Takes back the payment that was made with this key, if there is one. */
  takeBack: (key) => Promise.resolve(payments.undo(key)),
};

/** Fake books: each idempotency key makes one entry. */
export const entries = new Provider();

export const books = {
  enter: (order, euros, key) => Promise.resolve(entries.do(key, { order, euros })),
  /** Strikes the entry that was made with this key, if there is one. */
  strike: (key) => Promise.resolve(entries.undo(key)),
};

/** A fake desk where managers decide: undefined while no manager has decided. */
export const desk = {
  ask: (_order, _euros, _key) => Promise.resolve(),
  decision: (_order) => Promise.resolve('yes'),
};
