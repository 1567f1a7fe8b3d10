/**
 * Tasks of MCP: a call that goes on after its response. A task is a sealed record in the store,
 * which `create-task.ts` makes and `task-record.ts` changes atomically; `drive-task.ts` runs its
 * turns in the background, and `task-methods.ts` answers the methods.
 *
 * 1. `begin` takes the lease of the record, and notes which answers the turn takes.
 * 2. `takeTurn` runs the turn as a request of the host, with its own guard.
 * 3. The result goes into the record, unless another process has the lease by now.
 *
 * - The lease of a record ends by the clocks of hosts, so it is longer by what they may differ.
 * - An interrupted turn is repeated with the same answers, because the guard would refuse others.
 * - A task that has ended never changes.
 */
import { maxAnswers } from '../../model/host-limits.ts';
import { TurnAborted } from '@mcp-saga/core';
import { createTokenId, skewMs, TokenTooLarge } from '@mcp-saga/seal';
import type { Caller } from '../../model/caller.ts';
import { cannotContinue } from '../../token/resolve-program.ts';
import { neverAborted, sleep } from '../../settings/clock.ts';
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
 * Advances a task without its client, turn by turn under a lease, until a question or a long wait.
 * Never rejects. If the process dies, the lease expires, and the next request for the task
 * continues it.
 */
export async function drive(task: StoredTaskRef, caller: Caller): Promise<void> {
  const { host } = task;
  try {
    for (;;) {
      const begun = await begin(task);
      if (begun !== undefined) await run(task, begun, caller);
      else if (!(await waited(task))) return;
    }
  } catch (error) {
    // Another process runs the task, the task was cancelled, or its turn has reported an
    // incompatibility.
    if (error instanceof TurnAborted || cannotContinue(error)) return;
    // The turn is retried after the lease expires.
    host.observer.hooks.onError(error);
  }
}

/** `true` if a task has work to do, and no process does it. */
export function isDue(record: TaskRecord, now: number): boolean {
  const { due, lease } = record;
  if (isOver(record) || (lease !== undefined && now < lease.until)) return false;
  return lease !== undefined || (due !== undefined && due <= now);
}

async function begin(task: StoredTaskRef): Promise<TaskRecord | undefined> {
  const { clock, leaseMs } = task.host.timing;
  const id = createTokenId();
  return await changeRecord(task, (record) => {
    const now = clock();
    if (!isDue(record, now)) return undefined;
    const answered = record.questions.filter((question) => !isOpen(question)).map(({ key }) => key);
    // Answers may come from several requests. A turn takes as many as one request could bring.
    const keys = answered.slice(0, maxAnswers);
    // An interrupted turn is repeated unchanged, since it may have run.
    const turn = record.turn ?? { action: record.isCancelled === true ? 'cancel' : 'resume', keys };
    const { isAnswered: _read, ...rest } = record;
    return { ...rest, lease: { id, until: now + leaseMs + skewMs }, turn };
  });
}

async function run(task: StoredTaskRef, record: TaskRecord, caller: Caller): Promise<void> {
  const lease = record.lease?.id;
  // A late turn does not count: another turn began, or the task has ended.
  const keep = async (kept: TaskChange): Promise<void> => {
    await changeRecord(task, (now) => (now.lease?.id === lease ? kept(now) : undefined));
  };
  const change = await renewing(task, lease, (signal) =>
    takeTurn(task, record, { ...caller, signal }),
  ).catch(async (error: unknown) => {
    // Nothing ran. The next request for the task tries again at once, perhaps in another process.
    if (cannotContinue(error)) await keep(({ lease: _lease, ...left }) => left);
    throw error;
  });
  try {
    await keep(change);
  } catch (error) {
    // The result cannot be stored. A repeated turn would have the same result, and repeat its
    // effects.
    if (!(error instanceof TokenTooLarge)) throw error;
    task.host.observer.hooks.onError(error);
    await keep(ended(failure('The result of the task is too large to store.')));
  }
}

/** Runs `work` under a renewed lease. Aborts the work if the lease is lost. */
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
      await sleep(leaseMs / 3, done.signal);
      if (done.signal.aborted) return;
      const renewed = await changeRecord(task, (record) =>
        record.lease?.id === id && id !== undefined
          ? { ...record, lease: { id, until: clock() + leaseMs + skewMs } }
          : undefined,
      );
      if (renewed === undefined) lost.abort(new Error('The lease of the task is lost.'));
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

/**
 * Waits for a task that continues soon. Returns `false` for other tasks, and for tasks of other
 * processes.
 */
async function waited(task: StoredTaskRef): Promise<boolean> {
  const { clock } = task.host.timing;
  const { maxHold } = task.host.limits;
  const record = await readRecord(task);
  if (record === undefined || isOver(record) || record.lease !== undefined) return false;
  const { due } = record;
  if (due === undefined || due > clock() + maxHold) return false;
  const began = clock();
  await task.host.timing.sleep(due - began, neverAborted());
  // With a stopped clock, the task would never be due.
  return clock() > began;
}
