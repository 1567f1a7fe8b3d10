import { isAskedOfClient } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { Head } from '../../journal/head.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import { deadlineOf, startClock } from './waits.ts';

/** The clocks of all that waits in a turn. */
export class Clocks {
  /** When this run of the turn began (ms since the epoch). */
  began = 0;

  readonly #pending: ReadonlyMap<string, Task>;
  readonly #head: Pick<Head, 'waits'>;
  #late: number;
  /** The wait that has just ended. */
  #waited: Task | undefined;

  /** @param late - how long ago the turn was begun for the first time (ms) */
  constructor(pending: ReadonlyMap<string, Task>, head: Pick<Head, 'waits'>, late: number) {
    this.#pending = pending;
    this.#head = head;
    this.#late = late;
  }

  /** The turn was committed at a time: the next one begins there. */
  committed(now: number): void {
    this.began = now;
    this.#late = 0;
  }

  /** When the first request of the turn came (ms since the epoch). */
  get receivedAt(): number {
    return this.began - this.#late;
  }

  /** Starts the clock of a task, if it does not run yet. */
  start(task: Task, now: number): void {
    startClock(task, this.#head, now, this.#late);
  }

  /** Starts the clocks of all but questions, whose time begins when they are asked. */
  startAll(): void {
    for (const task of this.#pending.values())
      if (!isAskedOfClient(task.spec.kind)) this.start(task, this.began);
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
      if (next.spec.until === undefined) next.late = waited.late;
    }
  }
}

/** Returns `true` if the entry of a task says that time alone ended it. */
function isEndedByTime({ spec }: Task, type: EntryType): boolean {
  return type === 'timedOut' || (type === 'passed' && spec.kind === 'sleep');
}
