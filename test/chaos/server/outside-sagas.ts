import {
  approval,
  now,
  info,
  pivot,
  saga,
  step,
  StepTimedOut,
  waitFor,
  type Program,
} from '@mcp-saga/server';
import type { Command } from '@mcp-saga/server/internal';
import type { Delivery } from '@mcp-saga/server/stores';
import { z } from 'zod';
import type { NewNote } from '../provider/notes.ts';
import { ask, order, policy, tell } from './shop.ts';
import { escalateAfterMs, remindEvery } from '../outside/times.ts';

/** Roles of the people who answer. */
export const roles: Readonly<Record<string, string>> = {
  ann: 'member',
  bob: 'member',
  eve: 'member',
  dora: 'director',
};

const board = ['ann', 'bob', 'eve'];
const options = { version: '1', input: z.object({ call: z.string() }) } as const;
const Payment = z.object({ status: z.literal('paid'), number: z.int() });

/** Current time by the clock of this process, which has an offset. */
export function hostTime(): number {
  const { OUTSIDE_OFFSET = '0' } = process.env;
  return Date.now() + Number(OUTSIDE_OFFSET);
}

/** Charges, and asks three people, of whom two must approve. A denial undoes the charge. */
const grant = saga({ name: 'grant', ...options, commitEach: true }, function* () {
  const purchase = `grant:${(yield* info()).sagaId}`;
  yield* order('charge', purchase);
  const began = yield* now();
  const { approved, answers, ...denial } = yield* approval('board', {
    message: `Grant ${purchase}?`,
    by: { role: 'member' },
    to: board,
    of: 2,
    deliver: ({ url, to, isReminder, idempotencyKey: key, signal }: Delivery<string>) =>
      send(
        { key, purchase, kind: isReminder ? 'reminder' : 'link', to: to ?? '', url, began },
        signal,
      ),
    remindEvery,
    escalate: [{ after: escalateAfterMs, by: { role: 'director' }, to: ['dora'] }],
    timeout: 13_000,
  });
  const by = answers.map((answer) => (answer.by === 'link' ? 'link' : answer.by.subject));
  const result = approved
    ? 'approved'
    : (denial as { readonly reason: 'denied' | 'timeout' }).reason;
  yield* decide(purchase, began, result, by);
  if (!approved) throw new Error(`Not granted: ${result}.`);
  yield* pivot('granted');
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/** Books a room, and waits for the payment. Cancels the room if no payment arrives. */
const bill = saga({ name: 'bill', ...options }, function* () {
  const purchase = `bill:${(yield* info()).sagaId}`;
  yield* order('room', purchase);
  const began = yield* now();
  try {
    yield* waitFor('payment', {
      schema: Payment,
      verify: 'bank',
      register: ({ url, idempotencyKey: key, signal }) =>
        send({ key, purchase, kind: 'webhook', to: 'bank', url, began }, signal),
      timeout: 10_000,
    });
  } catch (error) {
    if (!(error instanceof StepTimedOut)) throw error;
    yield* decide(purchase, began, 'timeout', []);
    throw error;
  }
  yield* decide(purchase, began, 'approved', ['bank']);
  yield* pivot('paid');
  yield* tell('thank', purchase);
  return `done ${purchase}`;
});

/** The sagas that people and other systems answer. */
export const outsideSagas: readonly Program[] = [grant, bill];

async function send(note: Omit<NewNote, 'at'>, signal: AbortSignal): Promise<void> {
  await ask('/note', { ...note, at: hostTime() }, signal);
}

/** Records a decision for the judge. */
function decide(
  purchase: string,
  began: number,
  result: 'approved' | 'denied' | 'timeout',
  by: readonly string[],
): Command<void> {
  return step(
    'decide',
    ({ idempotencyKey: key, signal }) =>
      send({ key, purchase, kind: 'decision', began, result, by }, signal),
    { ...policy, retry: { ...policy.retry, attempts: 80 } },
  );
}
