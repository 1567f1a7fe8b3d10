/** Sagas that are wrong, each in one way that is easily overlooked. */
import { checkpoint, elicit, saga, step, type Saga } from '@mcp-saga/server';
import { Provider } from '@mcp-saga/testing';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });
const When = z.object({ hours: z.number().int().min(0).max(48) });

/** A bank that ignores idempotency keys unless it gets them. */
export const bank: {
  charges: string[];
  reset(this: void): void;
  charge(cents: number, key?: string): Promise<{ id: string }>;
} = {
  charges: [],
  reset: () => void (bank.charges.length = 0),
  charge: async (cents, key = `random-${bank.charges.length}`) => {
    if (!bank.charges.includes(key)) bank.charges.push(key);
    return { id: `${key}-${cents}` };
  },
};

/** Asks about the hour of the machine. */
export const readsDate = saga({ name: 'readsDate', version: '1' }, function* () {
  const hour = new Date(Date.now()).toISOString();
  const { sure } = yield* elicit('sure', { message: `Start at ${hour}?`, schema: Sure });
  return String(sure);
});

/** Takes one branch or the other by the clock of the machine. */
export const branchesByTime = saga({ name: 'branchesByTime', version: '1' }, function* () {
  yield* checkpoint();
  if (clock.now() > 1) yield* step('even', () => 'even');
  else yield* step('odd', () => 'odd');
  yield* checkpoint();
  return 'done';
});
/**
 * A clock of the module, which a saga must not read. Its first tick is odd, and no other: replay
 * runs at any later one.
 */
export const clock = { ticks: 0, now: (): number => (clock.ticks += 1) };

/** Draws a number. */
export const drawsLots = saga({ name: 'drawsLots', version: '1' }, function* () {
  yield* step('draw', () => true, { input: Math.random() });
  return 'drawn';
});

function holding(undo: {
  readonly compensate?: () => never;
  readonly unknown?: 'compensate';
}): Saga<undefined, undefined> {
  const name = undo.compensate === undefined ? 'leavesUnknown' : 'failsUnknown';
  return saga({ name, version: '1' }, function* () {
    yield* step('hold', ({ idempotencyKey }) => bank.charge(900, idempotencyKey), {
      compensate: ({ stepKey }) => void bank.charges.splice(bank.charges.indexOf(stepKey), 1),
      ...undo,
    });
    return 'held';
  });
}

/** Undoes a hold, but not a hold of unknown outcome. */
export const leavesUnknown = holding({});

/** Wants to undo it then as well, and cannot. */
export const failsUnknown = holding({
  compensate: () => {
    throw new Error('down');
  },
  unknown: 'compensate',
});

/** Says what day it is at the machine. */
export const localDay = saga({ name: 'localDay', version: '1' }, function* () {
  const date = new Date('2030-01-15T12:00:00Z');
  const { sure } = yield* elicit('sure', {
    message: `Is it the ${date.getDate()}.?`,
    schema: Sure,
  });
  return String(sure);
});

/** Writes an amount in the language of the machine. */
export const localAmount = saga({ name: 'localAmount', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', {
    message: `Pay ${(1234.5).toLocaleString()}?`,
    schema: Sure,
  });
  return String(sure);
});

/** Plugins, which register in whatever order their files are found. */
export const plugins: Record<string, string> = {};

/** Takes the plugins in the order in which they registered. */
export const trustsOrder = saga({ name: 'trustsOrder', version: '1' }, function* () {
  for (const name of Object.keys(plugins)) {
    yield* step('install', () => name, { key: name });
    yield* checkpoint();
  }
  return 'installed';
});

/** Forgets to say how a charge is undone. */
export const forgetsUndo = saga({ name: 'forgetsUndo', version: '1' }, function* () {
  yield* checkpoint();
  yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey));
  const { sure } = yield* elicit('sure', { message: 'Ship it?', schema: Sure });
  if (!sure) throw new Error('not sure');
  yield* step('ship', () => undefined);
  return 'shipped';
});

/** Charges, and reports no unknown outcome. */
export const forgetsUnknown = saga({ name: 'forgetsUnknown', version: '1' }, function* () {
  yield* checkpoint();
  const payment = yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey));
  return payment.id;
});

/** Charges without the key. */
const careless = { name: 'chargesWithoutKey', version: '1', reuse: 'ok' } as const;
export const chargesWithoutKey = saga(careless, function* () {
  yield* checkpoint();
  yield* step('charge', () => bank.charge(900));
  return 'charged';
});

/** Refunds without a key in each attempt. */
export const refundsWithoutKey = saga({ name: 'refundsWithoutKey', version: '1' }, function* () {
  yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey), {
    compensate: ({ result }) => void bank.charges.push(`refund ${result.id}`),
  });
  throw new Error('not sure');
});

/** Charges before its client has a token. */
export const chargesAtOnce = saga({ name: 'chargesAtOnce', version: '1' }, function* () {
  yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey));
  yield* elicit('sure', { message: 'Ship it?', schema: Sure });
  return 'done';
});

const named = (id: string) =>
  saga({ name: 'renamesStep', version: '1' }, function* () {
    yield* step(id, () => 1);
    yield* elicit('sure', { message: 'Ship it?', schema: Sure });
    yield* step('ship', () => 2);
    return 'shipped';
  });
/** What stepped `charge` before, and steps `pay` now, under the same version. */
export const renamesStep = { old: named('charge'), next: named('pay') };

/** Creates a command and does not yield it. */
export const floatsEffect = saga({ name: 'floatsEffect', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', { message: 'Ship it?', schema: Sure });
  // oxlint-disable-next-line typescript/no-unused-expressions -- what is wrong
  if (sure) step('ship', () => bank.charge(1));
  return 'shipped';
});

let calls = 0;
/** Counts in a variable of its module. */
export const countsOutside = saga({ name: 'countsOutside', version: '1' }, function* () {
  calls += 1;
  yield* step('a', ({ idempotencyKey }) => idempotencyKey);
  return `call ${calls}`;
});

/** Does not reckon with hours that are too many for a date. */
export const overflows = saga({ name: 'overflows', version: '1' }, function* () {
  const { hours } = yield* elicit('hours', { message: 'In how many hours?', schema: When });
  const slot: string | undefined = ['now', 'soon', 'later'][hours];
  return slot!.toUpperCase();
});

/** Relies on what the user may leave out. */
export const trustsNote = saga({ name: 'trustsNote', version: '1' }, function* () {
  const { note } = yield* elicit('card', {
    message: 'A note?',
    schema: z.object({ name: z.string(), note: z.string().optional() }),
  });
  yield* step('print', () => 'printed');
  return note!.toUpperCase();
});

function baking(body: () => Generator<unknown, void>): Saga<undefined, undefined> {
  const options = { version: '1', reuse: 'ok' } as const;
  return saga({ name: body.name, ...options }, function* () {
    yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey), {
      compensate: ({ stepKey }) => void bank.charges.splice(bank.charges.indexOf(stepKey), 1),
    });
    yield* body() as Generator<never, void>;
    return 'baked';
  });
}
const bakes = () =>
  step('bake', ({ idempotencyKey }) => idempotencyKey, {
    compensate: ({ stepKey }) => stepKey,
    unknown: 'compensate',
  });

/** Does not store its failure before the undo. */
export const forgetsFailure = baking(function* forgetsFailure() {
  yield* bakes();
});

/** Keeps itself that it failed, before it undoes. */
export const keepsFailure = baking(function* keepsFailure() {
  try {
    yield* bakes();
  } catch (error) {
    yield* checkpoint();
    throw error;
  }
});

/** A provider that knows keys. */
export const holds = new Provider<string>();

/** Undoes by the key of the undo, under which nothing was done. */
export const undoesItself = saga({ name: 'undoesItself', version: '1' }, function* () {
  yield* step('hold', ({ idempotencyKey }) => holds.do(idempotencyKey, 'a room'), {
    compensate: ({ outcome, stepKey, idempotencyKey }) =>
      holds.undo(outcome === 'done' ? idempotencyKey : stepKey),
    unknown: 'compensate',
  });
  yield* step('pay', () => 'paid');
  return 'held';
});

/** Asks until the user is sure, and relies on a first "yes". */
export const asksTwice = saga({ name: 'asksTwice', version: '1' }, function* () {
  const answers: string[] = [];
  for (;;) {
    const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
    answers.push(sure ? 'yes' : 'no');
    if (sure) return ['once'][answers.length - 1]!.toUpperCase();
  }
});
