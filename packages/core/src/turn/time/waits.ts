import { effectOf } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import type { Head, Wait } from '../../journal/head.ts';

/**
 * Grace for network delay: an answer that arrives this long after a deadline still counts. In milliseconds.
 */
export const answerGraceMs: number = 30_000;

/** State of a task at a time: due, out of time, or neither. */
export type Timing = 'due' | 'over' | 'waiting';

/** Gives a task the times it had when the state was sealed, or starts its clock. */
export function startClock(task: Task, head: Pick<Head, 'waits'>, now: number): void {
  if (task.since !== undefined) return;
  const known = Object.hasOwn(head.waits, task.path) ? head.waits[task.path] : undefined;
  const { spec, notBefore } = task;
  const isUntil = spec.kind === 'sleep' && spec.until !== undefined;
  task.isEarlier ||= known !== undefined || notBefore > 0 || isUntil;
  task.since = known?.[0] ?? now;
  task.until = known?.[1] ?? effectOf(spec).due?.(spec, task.since);
  task.asked = known?.[2] ?? 0;
}

/**
 * The entry type of a task that ends without being run: the wait is over or would outlive the saga, or the client cannot be
 * asked. Undefined for a task that waits or runs.
 *
 * @param time - now, by the clock of the task (ms since the epoch)
 */
export function endAtOnce(
  task: Task,
  time: number,
  lifeEndsAt: number | undefined,
): 'passed' | 'cannot' | 'timedOut' | undefined {
  if (outlives(task, lifeEndsAt)) return 'cannot';
  const timing = timingOf(task, time);
  if (timing !== 'due') return timing === 'over' ? 'timedOut' : undefined;
  if (task.spec.kind === 'sleep') return 'passed';
  return task.route === 'cannot' ? 'cannot' : undefined;
}

/** Returns `true` for a sleep that ends, or a poll that is asked again, after the end of the life of its saga. */
export function outlives(task: Task, lifeEndsAt: number = Number.POSITIVE_INFINITY): boolean {
  if (effectOf(task.spec).due === undefined || task.until === undefined) return false;
  return Math.min(task.until, deadlineOf(task) ?? Number.POSITIVE_INFINITY) > lifeEndsAt;
}

/** The time after which a task has failed, or undefined when it has all the time there is. */
export function deadlineOf({ spec, since }: Task): number | undefined {
  return since === undefined ? undefined : effectOf(spec).deadline?.(spec, since);
}

/** Compares a task with the time by its clock. */
export function timingOf(task: Task, time: number): Timing {
  const deadline = deadlineOf(task);
  if (deadline !== undefined && time >= deadline) return asksOnceMore(task, deadline, time) ? 'due' : 'over';
  return task.until !== undefined && time < task.until ? 'waiting' : 'due';
}

/**
 * Returns `true` for a poll with a late client: the poll is asked once more before it times out. A client at exactly the
 * deadline is late only if the next question was due earlier.
 */
function asksOnceMore({ spec, until = 0, asked }: Task, deadline: number, time: number): boolean {
  if (spec.kind !== 'poll' || (time === deadline && until >= deadline)) return false;
  return asked === 0 || until - spec.everyMs < deadline;
}

/** Sets when a poll that was not answered is asked again, after a time by its clock. */
export function askAgainAfter(task: Task, time: number): void {
  task.asked += 1;
  if (task.spec.kind === 'poll') task.until = Math.ceil(time + task.spec.everyMs);
}

/** When a task that does not wait for the client is due, by its clock (ms since the epoch): 0 for at once. */
export function dueAt(task: Task): number {
  if (task.spec.kind === 'step') return task.notBefore;
  if (task.until === undefined) return 0;
  return Math.min(task.until, deadlineOf(task) ?? Number.POSITIVE_INFINITY);
}

/** The times of a task as the head keeps them; undefined where there is nothing to keep. */
export function toWait(task: Task): Wait | undefined {
  const { spec, since, until, asked } = task;
  if (since === undefined) return undefined;
  if (effectOf(spec).due === undefined && deadlineOf(task) === undefined) return undefined;
  return [since, until ?? null, asked];
}

/** What the user may read: about a poll that goes on, at a checkpoint. */
export function reportOf({ spec, since = 0, asked }: Task, now: number): string | undefined {
  return effectOf(spec).report?.(spec, { asked, elapsedMs: now - since });
}

/**
 * `true` if a repetition of the turn may record another outcome for a task: a timer passes or does not, a step or poll
 * that failed succeeds, the claim of a `once` step is already taken. Any other step that succeeded succeeds again.
 *
 * @param began - when the turn began, by the clock of the task (ms since the epoch): a timer that was due by then is due in a
 *   repetition, too
 */
export function isChance(task: Task, type: EntryType, began: number): boolean {
  const { spec } = task;
  if (type === 'timedOut') return (deadlineOf(task) ?? 0) > began;
  if (spec.kind === 'sleep') return type === 'passed' && dueAt(task) > began;
  // A repetition cannot claim the step again: its outcome is unknown there.
  if (spec.kind === 'step' && spec.once && type !== 'retry') return true;
  // What follows the undo of a step does not depend on its outcome.
  if (spec.kind === 'step') return (type === 'failed' || type === 'unknown') && spec.of === undefined;
  return spec.kind === 'poll' && type !== 'cannot' && type !== 'withdrawn';
}
