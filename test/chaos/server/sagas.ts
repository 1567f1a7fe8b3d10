import { all, elicit, info, pivot, saga, sample, type Steps } from '@mcp-saga/server';
import { z } from 'zod';
import { order, tell } from './shop.ts';

/** At most nine: some clients ask for more first. */
export const Count = z.object({ count: z.int().min(1).max(9) });

const Call = z.object({ call: z.string() });

const options = { version: '1', input: Call, forks: 'refuse', commitFirst: true, task: 'prefer' } as const;

/** Charges, asks, ships; from there on only forward. */
export const buy = saga({ name: 'buy', ...options }, function* () {
  const purchase = yield* purchaseOf('buy');
  yield* order('charge', purchase);
  const { count } = yield* elicit('count', { message: `How many for ${purchase}?`, schema: Count });
  yield* order('ship', purchase);
  yield* pivot('shipped');
  // Nobody takes a thank you back.
  yield* tell('thank', purchase);
  return `done ${purchase}: ${count}`;
});

/** Books a room and a car at once and asks of both, the user and the model; charges for them, and ships the tickets. */
export const trip = saga({ name: 'trip', ...options, commitEach: true }, function* () {
  const purchase = yield* purchaseOf('trip');
  const { room } = yield* all({ room: sleeping(purchase), car: driving(purchase) });
  yield* order('charge', purchase);
  yield* order('ship', purchase);
  yield* pivot('charged');
  yield* tell('thank', purchase);
  return `done ${purchase}: ${room}`;
});

function* sleeping(purchase: string): Steps<number> {
  yield* order('room', purchase);
  const { count } = yield* elicit('beds', { message: `How many beds for ${purchase}?`, schema: Count });
  return count;
}

function* driving(purchase: string): Steps<void> {
  yield* order('car', purchase);
  yield* sample('route', {
    messages: [{ role: 'user', content: { type: 'text', text: `Which way for ${purchase}?` } }],
    maxTokens: 20,
  });
}

/** What a saga is called at the provider: by its own id, since one call may begin more than one saga. */
function* purchaseOf(name: string): Steps<string> {
  const { sagaId } = yield* info();
  return `${name}:${sagaId}`;
}
