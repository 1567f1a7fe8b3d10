import { TurnAborted } from '@mcp-saga/core';
import { TokenTooLarge } from '@mcp-saga/seal';
import type { Caller } from '../../model/caller.ts';
import { cannotContinue } from '../../token/resolve-program.ts';
import { sleep } from '../../settings/clock.ts';
import { newTokenId } from '../../token/sealed-saga.ts';
import {
  changeRecord,
  isOpen,
  isOver,
  readRecord,
  type StoredTaskRef,
  type TaskRecord,
} from './task-record.ts';
import { failure } from './task-status.ts';
import { ended, takeTurn, type TaskChange } from './task-turn.ts';

/**
 * Advances a task without its client: turn after turn, each under a lease, until a question or a long wait. Never rejects.
 * If the process dies, the lease expires, and the next request for the task starts it again.
 */
export async function drive(task: StoredTaskRef, caller: Caller): Promise<void> {
  const { host } = task;
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one turn comes after the other
      const begun = await begin(task);
      // oxlint-disable-next-line no-await-in-loop -- one turn comes after the other
      if (begun !== undefined) await run(task, begun, caller);
      // oxlint-disable-next-line no-await-in-loop -- a short wait is waited out
      else if (!(await waited(task))) return;
    }
  } catch (error) {
    // Another process has it now, it was cancelled, or its turn has reported why it cannot continue.
    if (error instanceof TurnAborted || cannotContinue(error)) return;
    // The lease stays: what failed is not tried again before it has run out.
    host.observer.hooks.onError(error);
  }
}

/** Whether there is something to run in a task, and nobody who runs it. */
export function isDue(record: TaskRecord, now: number): boolean {
  const { due, lease } = record;
  if (isOver(record) || (lease !== undefined && now < lease.until)) return false;
  return lease !== undefined || (due !== undefined && due <= now);
}

async function begin(task: StoredTaskRef): Promise<TaskRecord | undefined> {
  const { limits } = task.host;
  const { clock, leaseMs } = task.host.timing;
  const id = newTokenId();
  return await changeRecord(task, (record) => {
    const now = clock();
    if (!isDue(record, now)) return undefined;
    const answered = record.questions.filter((question) => !isOpen(question)).map(({ key }) => key);
    // They may have come by several requests: a turn takes as many as one of them could bring.
    const keys = answered.slice(0, limits.maxAnswers);
    // A turn that was begun before is taken again as it was: perhaps it has run.
    const turn = record.turn ?? { action: record.isCancelled === true ? 'cancel' : 'resume', keys };
    return { ...record, lease: { id, until: now + leaseMs }, turn };
  });
}

async function run(task: StoredTaskRef, record: TaskRecord, caller: Caller): Promise<void> {
  const lease = record.lease?.id;
  // A turn that came too late is not the one that counts: another one was begun, or the task is over.
  const keep = async (kept: TaskChange): Promise<void> => {
    await changeRecord(task, (now) => (now.lease?.id === lease ? kept(now) : undefined));
  };
  const change = await renewing(task, lease, (signal) => takeTurn(task, record, { ...caller, signal })).catch(
    async (error: unknown) => {
      // Nothing ran. Another process may serve it: the next request for the task tries again, and need not wait.
      if (cannotContinue(error)) await keep(({ lease: _lease, ...left }) => left);
      throw error;
    },
  );
  try {
    await keep(change);
  } catch (error) {
    // What it came to cannot be kept. Taken again, it would come to the same, and do it all again.
    if (!(error instanceof TokenTooLarge)) throw error;
    task.host.observer.hooks.onError(error);
    await keep(ended(failure('The task has come to more than can be kept.')));
  }
}

/** Does something under a lease that is renewed as long as it takes, and aborts it when the lease is lost. */
async function renewing<T>(
  task: StoredTaskRef,
  id: string | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { clock, leaseMs } = task.host.timing;
  const { hooks } = task.host.observer;
  const lost = new AbortController();
  const done = new AbortController();
  const renew = async (): Promise<void> => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- as long as it takes
      await sleep(leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      // oxlint-disable-next-line no-await-in-loop -- as long as it takes
      const renewed = await changeRecord(task, (record) =>
        record.lease?.id === id && id !== undefined
          ? { ...record, lease: { id, until: clock() + leaseMs } }
          : undefined,
      );
      if (renewed === undefined) lost.abort(new Error('The lease of a task was lost.'));
      if (renewed === undefined) return;
    }
  };
  const renewals = renew().catch(hooks.onError);
  try {
    return await work(lost.signal);
  } finally {
    done.abort();
    await renewals;
  }
}

/** Waits until a task goes on, where that is soon and nobody else sees to it. */
async function waited(task: StoredTaskRef): Promise<boolean> {
  const { clock } = task.host.timing;
  const { maxHoldMs } = task.host.limits;
  const record = await readRecord(task);
  if (record === undefined || isOver(record) || record.lease !== undefined) return false;
  const { due } = record;
  if (due === undefined || due > clock() + maxHoldMs) return false;
  const began = clock();
  await task.host.timing.sleep(due - began, new AbortController().signal);
  // With a clock that stands still, nothing would ever be due.
  return clock() > began;
}
