import {
  all,
  checkpoint,
  continueAs,
  elicit,
  info,
  patched,
  pivot,
  race,
  saga,
  sample,
  sleep,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import { z } from 'zod';
import { order, orderOnce, tell } from './shop.ts';

/** Nine is the maximum. Some clients first send more. */
export const Count = z.object({ count: z.int().min(1).max(9) });

const Call = z.object({ call: z.string() });
const Purchase = z.object({ purchase: z.string() });

const options = {
  version: '1',
  input: Call,
  task: 'prefer',
} as const;

/** The two releases of the rolling deploy. */
export type Release = 'old' | 'new';

/**
 * Charges, asks, ships; version 2 also stamps the receipt. Behind the pivot it only goes forward.
 */
const buy = (version: '1' | '2', previous: readonly Program[] = []): Program =>
  saga(
    { name: 'buy', ...options, version, previous: previous.map((older) => ({ saga: older })) },
    function* () {
      const purchase = yield* purchaseOf('buy');
      yield* order('charge', purchase);
      yield* askCount(purchase);
      if (version === '2') yield* orderOnce('stamp', purchase);
      yield* order('ship', purchase);
      yield* pivot('shipped');
      // A thank-you note cannot be undone.
      yield* tell('thank', purchase);
      return `done ${purchase}`;
    },
  );

/** Books a room and a car in parallel, asks about both, charges, and ships the tickets. */
const trip = (release: Release): Program =>
  saga({ name: 'trip', ...options, commitEach: true }, function* () {
    const purchase = yield* purchaseOf('trip');
    yield* all({ room: sleeping(purchase), car: driving(purchase) });
    yield* order('charge', purchase);
    if (release === 'new' && (yield* patched('stamp'))) yield* orderOnce('stamp', purchase);
    yield* order('ship', purchase);
    yield* pivot('charged');
    yield* tell('thank', purchase);
    return `done ${purchase}`;
  });

/** Races a step against a timer, checkpoints, sleeps, and claims a step once. */
const dash = saga({ name: 'dash', ...options }, function* () {
  const purchase = yield* purchaseOf('dash');
  const { winner } = yield* race({ room: order('room', purchase), late: sleep(120) });
  if (winner === 'late') yield* order('car', purchase);
  yield* checkpoint();
  yield* askCount(purchase);
  yield* sleep(400);
  yield* orderOnce('stamp', purchase);
  yield* order('charge', purchase);
  yield* pivot('charged');
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/**
 * Charges, and asks only if a turn was interrupted, as then its patch does not apply. A patch that
 * applied in a later turn would withdraw the question, together with the answer.
 */
const gift = saga({ name: 'gift', ...options }, function* () {
  const purchase = yield* purchaseOf('gift');
  yield* order('charge', purchase);
  if (!(yield* patched('without-asking'))) yield* askCount(purchase);
  yield* order('ship', purchase);
  yield* pivot('shipped');
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/**
 * Packs a little later, also while its user is asked: a copy of a request without answers may then
 * move the saga on, without its client.
 */
const parcel = saga({ name: 'parcel', ...options }, function* () {
  const purchase = yield* purchaseOf('parcel');
  yield* order('charge', purchase);
  yield* all({ count: askCount(purchase), packed: packing(purchase) });
  yield* order('ship', purchase);
  yield* pivot('shipped');
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/** Second half of a tour. The room is already booked, so this saga only runs forward. */
const tickets = saga({ name: 'tickets', ...options, input: Purchase }, function* ({ purchase }) {
  yield* pivot('booked');
  yield* tell('charge', purchase);
  yield* sleep(1_500);
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/** Books a room, asks, and continues as another saga. */
const tour = saga({ name: 'tour', ...options }, function* () {
  const purchase = yield* purchaseOf('tour');
  yield* order('room', purchase);
  yield* askCount(purchase);
  yield* pivot('asked');
  return yield* continueAs(tickets, { purchase });
});

/**
 * The sagas of one release. The rollout of version 2 of `buy` follows the documented phases: the
 * old release can continue version 2 but does not start it. The patch of `trip` does not: an old
 * process answers its tokens with a retryable error.
 */
export function sagasOf(release: Release): readonly Program[] {
  const [newest, other] = release === 'new' ? (['2', '1'] as const) : (['1', '2'] as const);
  return [buy(newest, [buy(other)]), trip(release), dash, gift, parcel, tour, tickets];
}

function* askCount(purchase: string): Steps<void> {
  yield* elicit('count', { message: `How many for ${purchase}?`, schema: Count });
}

function* packing(purchase: string): Steps<void> {
  yield* sleep(700);
  yield* order('room', purchase);
  yield* sleep(700);
}

function* sleeping(purchase: string): Steps<void> {
  yield* order('room', purchase);
  yield* elicit('beds', { message: `How many beds for ${purchase}?`, schema: Count });
}

function* driving(purchase: string): Steps<void> {
  yield* order('car', purchase);
  yield* sample('route', {
    messages: [{ role: 'user', content: { type: 'text', text: `Which way for ${purchase}?` } }],
    maxTokens: 20,
  });
}

/** Names the purchase after the saga: one call may start more than one saga. */
function* purchaseOf(name: string): Steps<string> {
  const { sagaId } = yield* info();
  return `${name}:${sagaId}`;
}
