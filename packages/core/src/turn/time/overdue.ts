import type { Task } from '../../replay/fiber.ts';
import type { TurnClock } from './clocks.ts';
import { deadlineOf, timingOf } from './waits.ts';

/** What is overdue, and whether work counts. */
export interface OverdueOptions {
  /** What was due by then is overdue (ms since the epoch, compared with the time of the answers). */
  readonly until: number;
  /** Runs polls and retries that are overdue, too, if no wait ends after them. */
  readonly works: boolean;
}

/** What carries out what is overdue. */
export interface OverdueHost {
  /** Commands that wait for an outcome. */
  readonly pending: ReadonlyMap<string, Task>;
  readonly clock: TurnClock;
  /** Ends a wait that time alone ends. */
  end(task: Task, type: 'passed' | 'timedOut'): void;
  /** Runs what is not held back, until nothing runs any more. */
  run(overdue: Overdue): Promise<void>;
}

/**
 * Lets what is overdue happen, each at its own time: waits end in the order in which they were due, and what follows from one
 * happens before the next one ends. Undefined if nothing is overdue.
 */
export function runOverdue(host: OverdueHost, options: OverdueOptions): Promise<void> | undefined {
  const overdue = new Overdue(host, options);
  return overdue.isOver ? undefined : inOrder(host, overdue);
}

async function inOrder(host: OverdueHost, overdue: Overdue): Promise<void> {
  const { pending } = host;
  while (!overdue.isOver) {
    const { ends, work } = overdue.next();
    const ran = overdue.release(work);
    if (work.length === 0) {
      for (const task of ends)
        if (pending.get(task.path) === task)
          host.end(task, task.spec.kind === 'sleep' ? 'passed' : 'timedOut');
      // All that ends at one time comes before the work that follows; so does the end of what was overdue, without answers.
      if (overdue.isAt(ends) || (!overdue.works && overdue.isOver)) continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- what was due first comes first
    await host.run(overdue);
    ran();
  }
}

/** Chooses what happens next of all that is overdue. */
export class Overdue {
  readonly #host: Pick<OverdueHost, 'pending' | 'clock'>;
  readonly #options: OverdueOptions;
  readonly #heldBack: Set<Task>;
  /** Work that the turn has no time for, or may not run. */
  readonly #deferred = new Set<Task>();

  constructor(host: Pick<OverdueHost, 'pending' | 'clock'>, options: OverdueOptions) {
    this.#host = host;
    this.#options = options;
    this.#heldBack = new Set(host.pending.values());
  }

  /** Returns `true` for a task that waits until all that is overdue has happened. */
  holdsBack(task: Task): boolean {
    // A sleep may begin in the past, and ends in its order.
    return task.spec.kind === 'sleep' || this.#heldBack.has(task);
  }

  /** `true` if work runs that no later wait depends on. */
  get works(): boolean {
    return this.#options.works;
  }

  /** `true` when nothing is left to happen. */
  get isOver(): boolean {
    const { ends, work } = this.next();
    return ends.length === 0 && (work.length === 0 || !this.works);
  }

  /** Waits that end next, all at one time, and work that was due before them. */
  next(): { readonly ends: readonly Task[]; readonly work: readonly Task[] } {
    const ends = new Map<Task, number>();
    const work = new Map<Task, number>();
    for (const task of this.#host.pending.values()) {
      const due = task.discarded ? undefined : this.#dueOf(task);
      if (due === undefined || due > this.#options.until) continue;
      if (this.#isEndedByTime(task)) ends.set(task, due);
      else if (!this.#deferred.has(task)) work.set(task, due);
    }
    const first = Math.min(...ends.values());
    return {
      ends: [...ends].flatMap(([task, due]) => (due === first ? [task] : [])),
      work: [...work].flatMap(([task, due]) => (due < first ? [task] : [])),
    };
  }

  /** Returns `true` if another wait ends at the same time as those that have just ended. */
  isAt([ended]: readonly Task[]): boolean {
    const [next] = this.next().ends;
    return ended !== undefined && next !== undefined && this.#dueOf(next) === this.#dueOf(ended);
  }

  /** Lets work run. Call the result when nothing runs any more: work that did not run is not chosen again. */
  release(work: readonly Task[]): () => void {
    const before = work.map(attemptsOf);
    for (const task of work) this.#heldBack.delete(task);
    return () => {
      for (const [index, task] of work.entries())
        if (attemptsOf(task) === before[index]) this.#deferred.add(task);
    };
  }

  #dueOf(task: Task): number | undefined {
    const { spec, until, notBefore, since } = task;
    const { receivedAt } = this.#host.clock;
    if (spec.kind === 'step') return notBefore > 0 ? notBefore : undefined;
    // What begins in this turn is not overdue.
    if (since === undefined || since >= receivedAt) return undefined;
    const deadline = deadlineOf(task);
    // A poll that is out of time is asked for the last time then.
    const isOver = deadline !== undefined && deadline <= receivedAt;
    return isOver ? deadline : (until ?? deadline);
  }

  #isEndedByTime(task: Task): boolean {
    const { kind } = task.spec;
    if (kind !== 'poll') return kind !== 'step';
    return timingOf(task, this.#host.clock.timeFor(task)) === 'over';
  }
}

/** How often it was asked or tried. */
function attemptsOf({ asked, attempts }: Task): number {
  return asked + attempts;
}
