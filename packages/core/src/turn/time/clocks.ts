import { isAskedOfClient } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { Head } from '../../journal/head.ts';
import type { Runtime } from '../../model/runtime.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import { deadlineOf, dueAt, startClock } from './waits.ts';

/** Something that has a time. */
export interface Timed {
  /** `true` if its times are those of an earlier turn: they are compared with the time of the answers, not with now. */
  readonly isEarlier?: boolean;
}

/**
 * Clock of one turn. The turn may repeat an interrupted one: what waits since an earlier turn, and what a body reads of the
 * clock, goes by the time at which the answers were received first, so that the repetition takes the same way. What begins to
 * wait in this turn goes by now. (E1)
 */
export class TurnClock {
  readonly #runtime: Pick<Runtime, 'now'>;
  #began = 0;
  /** Time from the first run of the turn to this one, in milliseconds. */
  #delay: number;

  constructor(runtime: Pick<Runtime, 'now' | 'receivedAt'>) {
    this.#runtime = runtime;
    const { receivedAt } = runtime;
    this.#delay = receivedAt === undefined ? 0 : Math.max(0, runtime.now() - receivedAt);
  }

  /** Replay has ended, and the time of this run begins, if it has not begun. Returns the time now. */
  begin(): number {
    const now = this.now();
    this.#began ||= now;
    return now;
  }

  /** The time now, in milliseconds since the epoch. */
  now(): number {
    return this.#runtime.now();
  }

  /** Time at which this run of the turn began, in milliseconds since the epoch. */
  get began(): number {
    return this.#began;
  }

  /** Time at which the answers were received first, in milliseconds since the epoch. */
  get receivedAt(): number {
    return this.#began - this.#delay;
  }

  /** Converts a time of this run to the times of `timed`. */
  timeFor({ isEarlier = false }: Timed, now: number = this.now()): number {
    return isEarlier ? now - this.#delay : now;
  }

  /** Converts a time of `timed` to the time of this run. The inverse of `timeFor`. */
  fromTimeOf({ isEarlier = false }: Timed, time: number): number {
    return isEarlier ? time + this.#delay : time;
  }

  /** The turn was committed: the next one begins now, and was not interrupted. */
  committed(): void {
    this.#began = this.now();
    this.#delay = 0;
  }
}

/** The clocks of all that waits in a turn. */
export class Clocks {
  readonly #turn: TurnClock;
  readonly #pending: ReadonlyMap<string, Task>;
  readonly #head: Pick<Head, 'waits'>;
  /** The wait that has just ended. */
  #waited: Task | undefined;

  constructor(turn: TurnClock, pending: ReadonlyMap<string, Task>, head: Pick<Head, 'waits'>) {
    this.#turn = turn;
    this.#pending = pending;
    this.#head = head;
  }

  /** Starts the clock of a task, if it does not run yet. */
  start(task: Task, now: number): void {
    startClock(task, this.#head, now);
  }

  /** Starts the clocks of all but questions, whose time begins when they are asked. */
  startAll(): void {
    for (const task of this.#pending.values())
      if (!isAskedOfClient(task.spec.kind)) this.start(task, this.#turn.began);
  }

  /** When a task is due by the clock of this run (ms since the epoch): 0 for at once. */
  dueAt(task: Task): number {
    const due = dueAt(task);
    return due === 0 ? 0 : this.#turn.fromTimeOf(task, due);
  }

  /** The task that is due first; of several, the one that was issued first. */
  firstOf(tasks: readonly Task[]): Task | undefined {
    let first: Task | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const task of tasks) {
      const due = this.dueAt(task);
      if (first === undefined || due < least) [first, least] = [task, due];
    }
    return first;
  }

  /**
   * Starts the clocks of sleeps that follow the end of a wait. They begin when that wait was due, however late the client
   * is, though a sibling had to be awaited: one sleep after the other takes as long as both together.
   */
  ended(task: Task, type: EntryType): void {
    if (!task.discarded) this.#waited = isEndedByTime(task, type) ? task : undefined;
    const waited = this.#waited;
    const at = waited?.spec.kind === 'sleep' ? waited.until : waited && deadlineOf(waited);
    if (waited === undefined || at === undefined) return;
    for (const next of this.#pending.values()) {
      if (next.spec.kind !== 'sleep' || next.since !== undefined) continue;
      this.start(next, at);
      if (next.spec.until === undefined) next.isEarlier = waited.isEarlier;
    }
  }
}

/** Returns `true` if the entry of a task says that time alone ended it. */
function isEndedByTime({ spec }: Task, type: EntryType): boolean {
  return type === 'timedOut' || (type === 'passed' && spec.kind === 'sleep');
}
