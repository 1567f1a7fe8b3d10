import { effectOf } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import type { Head, Wait } from '../../journal/head.ts';
import type { Runtime } from '../../model/runtime.ts';

/**
 * Grace for network delay, in milliseconds: an answer that arrives this long after a deadline still
 * counts.
 */
export const answerGraceMs: number = 30_000;

/** State of a task at a time: due, out of time, or neither. */
export type Timing = 'due' | 'over' | 'waiting';

/** Restores the times of a task from the head, or starts the clock. */
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
 * Makes a poll of answers from outside due in this turn: an answer may have arrived since the last
 * question.
 */
export function askInTurn(task: Task, receivedAt: number): void {
  if (task.spec.kind !== 'poll' || task.spec.outside === undefined || task.until === undefined)
    return;
  task.until = Math.min(task.until, receivedAt);
}

/**
 * Entry type of a task that ends without running: the wait is over or would outlive the saga, or
 * the client cannot be asked. Undefined for a task that waits or runs.
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

/**
 * `true` for a sleep that ends, or a poll that asks again, after the end of the saga's lifetime.
 */
export function outlives(task: Task, lifeEndsAt: number = Number.POSITIVE_INFINITY): boolean {
  if (effectOf(task.spec).due === undefined || task.until === undefined) return false;
  return Math.min(task.until, deadlineOf(task) ?? Number.POSITIVE_INFINITY) > lifeEndsAt;
}

/** Time at which a task fails. Undefined without a limit. */
export function deadlineOf({ spec, since }: Task): number | undefined {
  return since === undefined ? undefined : effectOf(spec).deadline?.(spec, since);
}

/**
 * End of all waits of a task (ms since the epoch), until which the token lives: 0 without an end.
 */
export function lastsUntil(task: Task): number {
  const { spec, since = 0 } = task;
  const last =
    spec.kind === 'poll' && spec.outside !== undefined ? since + spec.outside.lastsMs : 0;
  return Math.ceil(Math.max(last, deadlineOf(task) ?? 0));
}

export function timingOf(task: Task, time: number): Timing {
  const deadline = deadlineOf(task);
  if (deadline !== undefined && time >= deadline)
    return asksOnceMore(task, deadline, time) ? 'due' : 'over';
  return task.until !== undefined && time < task.until ? 'waiting' : 'due';
}

/**
 * `true` for a poll that asks once more before the timeout, because the client is late. A client at
 * exactly the deadline is late only if the next question was due earlier.
 */
function asksOnceMore({ spec, until = 0, asked }: Task, deadline: number, time: number): boolean {
  if (spec.kind !== 'poll' || (time === deadline && until >= deadline)) return false;
  return asked === 0 || until - spec.everyMs < deadline;
}

/** Schedules the next question of an unanswered poll, from a time by the clock of the task. */
export function askAgainAfter(task: Task, time: number): void {
  task.asked += 1;
  if (task.spec.kind === 'poll') task.until = Math.ceil(time + task.spec.everyMs);
}

/**
 * Due time of a task that does not wait for the client (ms since the epoch, by the clock of the
 * task): 0 for at once.
 */
export function dueAt(task: Task): number {
  if (task.spec.kind === 'step') return task.notBefore;
  if (task.until === undefined) return 0;
  return Math.min(task.until, deadlineOf(task) ?? Number.POSITIVE_INFINITY);
}

/** Times of a task for the head. Undefined without times. */
export function toWait(task: Task): Wait | undefined {
  const { spec, since, until, asked } = task;
  if (since === undefined) return undefined;
  if (effectOf(spec).due === undefined && deadlineOf(task) === undefined) return undefined;
  return [since, until ?? null, asked];
}

/** Text for the user: about a poll that continues, or at a checkpoint. */
export function reportOf({ spec, since = 0, asked }: Task, now: number): string | undefined {
  return effectOf(spec).report?.(spec, { asked, elapsedMs: now - since });
}

/**
 * `true` if a repetition of the turn may record another outcome for a task: a timer passes or not,
 * a failed step or poll succeeds, a read sees something else, the claim of a `once` step exists
 * already. Any other successful step succeeds again, with the same result for the same key.
 * @param began - start of the turn, by the clock of the task (ms since the epoch): earlier timers
 * are due in a repetition, too
 */
export function isChance(task: Task, type: EntryType, began: number): boolean {
  const { spec } = task;
  if (type === 'timedOut') return (deadlineOf(task) ?? 0) > began;
  if (spec.kind === 'sleep') return type === 'passed' && dueAt(task) > began;
  // A repetition cannot claim the step again, and gets an unknown outcome.
  if (spec.kind === 'step' && spec.once && type !== 'retry') return true;
  // The events after the undo of a step do not depend on the outcome.
  if (spec.kind === 'step') {
    if (spec.of !== undefined) return false;
    if (spec.reads) return type !== 'retry';
    return type === 'failed' || type === 'unknown';
  }
  return spec.kind === 'poll' && type !== 'cannot' && type !== 'withdrawn';
}

/** Warns the author about a wait beyond the lifetime of the saga. */
export function warnOfLifetime(
  task: Task,
  { saga, observer }: Pick<Runtime, 'saga' | 'observer'>,
): void {
  const { warn } = observer;
  const { lifeEndsAt } = saga;
  const { spec, path, until } = task;
  const end = spec.kind === 'sleep' ? until : deadlineOf(task);
  if (warn === undefined || lifeEndsAt === undefined || end === undefined || end <= lifeEndsAt)
    return;
  const becomes =
    spec.kind === 'sleep'
      ? 'It fails with ClientCannot'
      : spec.kind === 'poll'
        ? 'It fails with ClientCannot when no time is left for another question'
        : 'The saga expires first, without StepTimedOut';
  warn(
    `'${path}' waits until ${shown(end)}, but its saga expires at ${shown(lifeEndsAt)}. ${becomes}. ` +
      'Raise limits.maxLifetime of the host, or wait for a shorter time.',
  );
}

// Dates end in the year 275760.
function shown(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms}`;
}
