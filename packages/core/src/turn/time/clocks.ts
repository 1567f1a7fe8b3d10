import { isAskedOfClient } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { Head } from '../../journal/head.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import type { TurnClock } from './turn-clock.ts';
import { deadlineOf, dueAt, startClock } from './waits.ts';

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
