import { isAskedOfClient } from './command-spec.ts';
import { TurnAborted } from './errors.ts';
import type { Execution } from './execution.ts';
import { tried, type Task } from './fiber.ts';
import type { Head } from './head.ts';
import type { Journal } from './journal.ts';
import type { Runtime } from './program.ts';
import { runTask, type TaskEnd } from './run-task.ts';
import { dueAt, startClock, timingOf } from './waits.ts';

/** What the running of tasks needs to know of its turn. */
export interface DueTasksOptions {
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  /** The client is to have a token before the first server step runs. (E1) */
  readonly commitFirst: boolean;
}

/** Runs what does not wait for the client, until everything waits for the client or the clock. (U1) */
export class DueTasks {
  /** A state that could not be sealed anyway is not handed out: undoing goes on to its end. */
  canSuspend = true;

  readonly #options: DueTasksOptions;
  readonly #execution: Execution;
  readonly #runtime: Runtime;
  readonly #ends: { readonly task: Task; readonly end: TaskEnd }[] = [];
  #running = new Set<Task>();
  #held = 0;
  #wake: (() => void) | undefined;

  constructor(options: DueTasksOptions) {
    this.#options = options;
    this.#execution = options.execution;
    this.#runtime = options.runtime;
  }

  /** Runs all that is due, and what follows from it. */
  async runAll(): Promise<void> {
    for (;;) {
      this.assertGoing();
      this.#startDue();
      const done = this.#ends.shift();
      if (done !== undefined) {
        this.#finish(done.task, done.end);
      } else if (this.#running.size > 0) {
        // oxlint-disable-next-line no-await-in-loop -- results are taken in the order of completion (U2)
        await this.#nextEnd();
      } else {
        const wait = this.#shortWait();
        if (wait === undefined) return;
        this.#held += wait;
        // oxlint-disable-next-line no-await-in-loop -- a short wait is held (W6)
        await this.#runtime.sleep(wait, this.#runtime.signal);
      }
    }
  }

  /** Throws where the request was aborted. */
  assertGoing(): void {
    if (this.#runtime.signal.aborted) throw new TurnAborted(this.#runtime.signal.reason);
  }

  /** Tells what runs to stop. */
  abort(reason: unknown): void {
    for (const task of this.#running) task.running?.abort(reason);
  }

  /** Ends a turn that cannot go on: what runs is told to stop, and awaited. */
  async stop(reason: unknown): Promise<void> {
    this.abort(reason);
    while (this.#running.size > this.#ends.length) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other ends
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#running = new Set();
  }

  /** What ended in a turn that cannot go on did what it did, though nobody hears of it. */
  drainEnds(): void {
    for (const { task, end } of this.#ends.splice(0)) {
      if (end.entry !== undefined) this.#execution.outlived(task, end.entry, end.value);
    }
  }

  /** Waits for what runs, and no longer than until something else is due: a sleep may end it. (W6) */
  async #nextEnd(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const now = this.#runtime.now();
    const times = [...this.#execution.pending.values()]
      .filter((task) => !isAskedOfClient(task.spec.kind) && task.running === undefined && !task.discarded)
      .map(dueAt)
      .filter((at) => at > now);
    if (times.length === 0) {
      await ended;
      return;
    }
    const timer = new AbortController();
    await Promise.race([ended, this.#runtime.sleep(Math.min(...times) - now, timer.signal)]);
    timer.abort();
  }

  #startDue(): void {
    const { journal } = this.#options;
    const now = this.#runtime.now();
    for (const task of this.#execution.pending.values()) {
      if (isAskedOfClient(task.spec.kind) || task.running !== undefined || task.discarded) continue;
      startClock(task, this.#options.head, now);
      const timing = timingOf(task, now);
      if (timing === 'waiting' || (task.spec.kind === 'step' && this.#isDeferred(task, now))) continue;
      // Before it runs: what could not be recorded had better not happen.
      journal.assertRoom(this.#running.size + 1);
      task.running = new AbortController();
      this.#running.add(task);
      if (timing === 'over' || task.spec.kind === 'sleep') {
        const letter = timing === 'over' ? 'y' : 'k';
        this.#ends.push({ task, end: { entry: { letter }, value: undefined } });
        continue;
      }
      void runTask(task, this.#runtime, task.running.signal).then((end) => {
        this.#ends.push({ task, end });
        this.#wake?.();
      });
    }
  }

  /** Whether a server step has to wait for the next turn: the time for it has not come, or is used up. (U4) */
  #isDeferred(task: Task, now: number): boolean {
    if (task.notBefore > now) return true;
    if (!this.canSuspend) return false;
    const { commitFirst, head } = this.#options;
    if (commitFirst && head.turn === 0 && this.#runtime.tokenBytes === 0) return true;
    return now >= (this.#runtime.deadline ?? Number.POSITIVE_INFINITY);
  }

  /** How long to wait in this request, when there is nothing to do but wait, and not for long. (W6) */
  #shortWait(): number | undefined {
    const tasks = [...this.#execution.pending.values()];
    if (tasks.length === 0 || tasks.some(({ spec }) => isAskedOfClient(spec.kind))) return undefined;
    const now = this.#runtime.now();
    const due = Math.min(...tasks.map(dueAt));
    const wait = due - now;
    if (wait <= 0) return undefined;
    const { deadline, maxHold } = this.#runtime;
    if (!this.canSuspend || deadline === undefined) return wait;
    return this.#held + wait <= maxHold && due <= deadline ? wait : undefined;
  }

  #finish(task: Task, { entry, value }: TaskEnd): void {
    this.#running.delete(task);
    task.running = undefined;
    this.assertGoing();
    if (entry === undefined) {
      const { spec } = task;
      task.asked += 1;
      if (spec.kind === 'poll') task.until = this.#runtime.now() + spec.every;
      if (task.discarded) this.#execution.record(task, { letter: 'w' }, undefined);
      return;
    }
    if (entry.letter === 't' && !task.discarded) tried(task, value);
    this.#execution.record(task, entry, value);
  }
}
