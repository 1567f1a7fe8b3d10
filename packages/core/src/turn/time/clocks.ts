/**
 * The times of a turn, in milliseconds since the epoch. A turn has two of them:
 *
 * - `receivedAt`: the answers arrived for the first time. It decides what is overdue, and is the
 *   same when an interrupted turn is repeated.
 * - `began`: this run of the turn began. What begins in this turn begins now.
 *
 * Without an interruption both are equal. A wait of an earlier turn (`isEarlier`) lives in the
 * time of the answers, and any other wait in the time of this run: `timeFor` and `fromTimeOf`
 * convert between the two by their difference.
 *
 * `Overdue` lets waits that are over end one after the other, each at its own time and with all
 * that follows from it, as if the saga had been awake. `waits.ts` says when a single task is due,
 * over, or too late for the life of its saga.
 */
import { isAskedOfClient } from '../../effects/effect-of.ts';
import type { Task } from '../../replay/fiber.ts';
import type { Head } from '../../journal/head.ts';
import type { Runtime } from '../../model/runtime.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import { deadlineOf, dueAt, startClock, timingOf } from './waits.ts';

/** A task with times. */
export interface Timed {
  /**
   * `true` if the times belong to an earlier turn: compared with the time of the answers, not with
   * now.
   */
  readonly isEarlier?: boolean;
}

/**
 * Clock of one turn. If the turn repeats an interrupted run, earlier waits and clock reads of the
 * body use the time when the answers were first received, so the repetition takes the same branch.
 * New waits use the current time.
 */
export class TurnClock {
  readonly #runtime: Pick<Runtime, 'time'>;
  #began = 0;
  /** Time from the first run of the turn to the current run, in milliseconds. */
  #delay: number;

  constructor(runtime: Pick<Runtime, 'time' | 'turn'>) {
    this.#runtime = runtime;
    const { receivedAt } = runtime.turn;
    this.#delay = receivedAt === undefined ? 0 : Math.max(0, runtime.time.now() - receivedAt);
  }

  /** Starts the time of the run after replay, on the first call. Returns the current time. */
  begin(): number {
    const now = this.now();
    this.#began ||= now;
    return now;
  }

  /** Current time, in milliseconds since the epoch. */
  now(): number {
    return this.#runtime.time.now();
  }

  /** Start of this run of the turn, in milliseconds since the epoch. */
  get began(): number {
    return this.#began;
  }

  /** Time when the answers were first received, in milliseconds since the epoch. */
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

  /** Starts the next turn after a commit, without an interruption. */
  committed(): void {
    this.#began = this.now();
    this.#delay = 0;
  }
}

/** Clocks of all waits in a turn. */
export class Clocks {
  readonly #turn: TurnClock;
  readonly #pending: ReadonlyMap<string, Task>;
  readonly #head: Pick<Head, 'waits'>;
  /** Wait that ended last. */
  #waited: Task | undefined;

  constructor(turn: TurnClock, pending: ReadonlyMap<string, Task>, head: Pick<Head, 'waits'>) {
    this.#turn = turn;
    this.#pending = pending;
    this.#head = head;
  }

  /** Starts the clock of a task, unless the clock runs already. */
  start(task: Task, now: number): void {
    startClock(task, this.#head, now);
  }

  /**
   * Starts the clocks of all tasks except questions, whose time begins with the request to the
   * client.
   */
  startAll(): void {
    for (const task of this.#pending.values())
      if (!isAskedOfClient(task.spec.kind)) this.start(task, this.#turn.began);
  }

  /** Due time of a task by the clock of this run (ms since the epoch): 0 for at once. */
  dueAt(task: Task): number {
    const due = dueAt(task);
    return due === 0 ? 0 : this.#turn.fromTimeOf(task, due);
  }

  /** Task that is due first. Of several, the task issued first. */
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
   * Starts the clocks of sleeps after the end of a wait. Such a sleep begins when the wait was due,
   * even with a late client or an awaited sibling: two consecutive sleeps take as long as their
   * sum.
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

/** `true` if time alone ended a task. */
function isEndedByTime({ spec }: Task, type: EntryType): boolean {
  return type === 'timedOut' || (type === 'passed' && spec.kind === 'sleep');
}

/** Limits of {@link runOverdue}. */
export interface OverdueOptions {
  /**
   * Time by which a task must be due to be overdue (ms since the epoch, compared with the time of
   * the answers).
   */
  readonly until: number;
  /** `true` to run overdue polls and retries also if no wait ends after them. */
  readonly works: boolean;
}

/** Runs overdue work, and ends overdue waits. */
export interface OverdueHost {
  readonly pending: ReadonlyMap<string, Task>;
  readonly clock: TurnClock;
  /** Ends a timed wait. */
  end(task: Task, type: 'passed' | 'timedOut'): void;
  /** Runs tasks that are not held back, until no task runs. */
  run(overdue: Overdue): Promise<void>;
}

/**
 * Runs overdue events, each at the due time: waits end in due order, and the consequences of one
 * wait happen before the next wait ends. Undefined without overdue events.
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
      // Waits with the same due time end before the work that follows. Without answers, so do all
      // overdue waits.
      if (overdue.isAt(ends) || (!overdue.works && overdue.isOver)) continue;
    }
    await host.run(overdue);
    ran();
  }
}

/** Chooses the next overdue event. */
export class Overdue {
  readonly #host: Pick<OverdueHost, 'pending' | 'clock'>;
  readonly #options: OverdueOptions;
  readonly #heldBack: Set<Task>;
  /** Work for a later turn: this turn has no time left, or may not run the work. */
  readonly #deferred = new Set<Task>();

  constructor(host: Pick<OverdueHost, 'pending' | 'clock'>, options: OverdueOptions) {
    this.#host = host;
    this.#options = options;
    this.#heldBack = new Set(host.pending.values());
  }

  /** `true` for a task that waits until all overdue events have happened. */
  holdsBack(task: Task): boolean {
    // A sleep may begin in the past, and ends in due order.
    return task.spec.kind === 'sleep' || this.#heldBack.has(task);
  }

  /** `true` to run overdue work also if no wait ends after the work. */
  get works(): boolean {
    return this.#options.works;
  }

  /** `true` if no overdue event is left. */
  get isOver(): boolean {
    const { ends, work } = this.next();
    return ends.length === 0 && (work.length === 0 || !this.works);
  }

  /** Next waits to end, all due at the same time, and work due before these waits. */
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

  /** `true` if another wait ends at the same time as the last ended waits. */
  isAt([ended]: readonly Task[]): boolean {
    const [next] = this.next().ends;
    return ended !== undefined && next !== undefined && this.#dueOf(next) === this.#dueOf(ended);
  }

  /** Releases work. Call the result when no task runs: deferred work is not chosen again. */
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
    // A wait that begins in this turn is not overdue.
    if (since === undefined || since >= receivedAt) return undefined;
    const deadline = deadlineOf(task);
    // A poll out of time asks for the last time at the deadline.
    const isOver = deadline !== undefined && deadline <= receivedAt;
    return isOver ? deadline : (until ?? deadline);
  }

  #isEndedByTime(task: Task): boolean {
    const { kind } = task.spec;
    if (kind !== 'poll') return kind !== 'step';
    return timingOf(task, this.#host.clock.timeFor(task)) === 'over';
  }
}

/** Number of questions and attempts of a task. */
function attemptsOf({ asked, attempts }: Task): number {
  return asked + attempts;
}
