import type { Task } from './fiber.ts';
import type { Head, Wait } from './head.ts';

/**
 * Grace for network delay: an answer that arrives this long after a deadline still counts. In milliseconds.
 */
export const answerGraceMs: number = 30_000;

/** What becomes of a task at a time: it is due, its time is over, or neither. */
export type Timing = 'due' | 'over' | 'waiting';

/**
 * Gives a task the times it had when the state was sealed, or starts its clock.
 *
 * @param late - how long ago the turn was begun, for what waits since a turn before, or until a date (ms)
 */
export function startClock(task: Task, head: Pick<Head, 'waits'>, now: number, late: number = 0): void {
  if (task.since !== undefined) return;
  const known = Object.hasOwn(head.waits, task.path) ? head.waits[task.path] : undefined;
  const { spec, notBefore } = task;
  const isUntil = spec.kind === 'sleep' && spec.until !== undefined;
  if (known !== undefined || notBefore > 0 || isUntil) task.late = late;
  task.since = known?.[0] ?? now;
  task.until = known?.[1] ?? firstDue(task, task.since);
  task.asked = known?.[2] ?? 0;
}

function firstDue({ spec }: Task, since: number): number | undefined {
  if (spec.kind === 'sleep') return spec.until ?? since + spec.ms;
  return spec.kind === 'poll' ? since : undefined;
}

/** The time after which a task has failed, or undefined when it has all the time there is. */
export function deadlineOf({ spec, since }: Task): number | undefined {
  if (since === undefined) return undefined;
  if (spec.kind === 'poll') return since + spec.timeout;
  return 'ttl' in spec && spec.ttl !== undefined ? since + spec.ttl : undefined;
}

/** What the clock says of a task. */
export function timingOf(task: Task, now: number): Timing {
  const deadline = deadlineOf(task);
  const time = now - task.late;
  if (deadline !== undefined && time >= deadline) return 'over';
  return task.until !== undefined && time < task.until ? 'waiting' : 'due';
}

/** When a task that does not wait for the client goes on (ms since the epoch): 0 for at once. */
export function dueAt(task: Task): number {
  if (task.spec.kind === 'step') return task.notBefore + task.late;
  if (task.until === undefined) return 0;
  return Math.min(task.until, deadlineOf(task) ?? Number.POSITIVE_INFINITY) + task.late;
}

/** The times of a task as the head keeps them; undefined where there is nothing to keep. */
export function toWait(task: Task): Wait | undefined {
  const { spec, since, until, asked } = task;
  if (since === undefined) return undefined;
  if (spec.kind !== 'sleep' && spec.kind !== 'poll' && deadlineOf(task) === undefined) return undefined;
  return [since, until ?? null, asked];
}

/** What the user may read: about a poll that goes on, at a checkpoint. */
export function reportOf({ spec, since = 0, asked }: Task, now: number): string | undefined {
  if (spec.kind === 'checkpoint') return spec.content;
  if (spec.kind !== 'poll' || spec.report === undefined) return undefined;
  return typeof spec.report === 'string' ? spec.report : spec.report({ asked, elapsed: now - since });
}
