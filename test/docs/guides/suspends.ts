import { saga, step } from '@mcp-saga/server';
import { z } from 'zod';

/** Accounts of a bank, by name. */
export const balances = new Map([
  ['ada', 10],
  ['bob', 0],
]);

const add = (name: string, amount: number): number => {
  const balance = (balances.get(name) ?? 0) + amount;
  balances.set(name, balance);
  return balance;
};

// #region suspends
const Transfer = z.object({ from: z.string(), to: z.string(), amount: z.int() });

export const transfer = saga(
  { name: 'transfer', version: '1', input: Transfer, reuse: 'ok', suspends: false },
  function* ({ from, to, amount }) {
    yield* step('withdraw', () => add(from, -amount), { compensate: () => add(from, amount) });
    yield* step('deposit', () => add(to, amount));
    return 'Transferred.';
  },
);
// #endregion suspends
