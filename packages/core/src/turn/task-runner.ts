import { Clocks, type TurnClock } from './time/clocks.ts';
import { isAskedOfClient, isEffect } from '../effects/effect-of.ts';
import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnAborted } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import { tried, type Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import { InterruptedRun } from './interrupted-run.ts';
import type { Journal, TaskEntry } from '../journal/journal.ts';
import { runOverdue, type Overdue, type OverdueOptions } from './time/overdue.ts';
import { later } from '../effects/kinds/step.ts';
import { runTask } from '../effects/run-task.ts';
import type { TaskEnd } from '../effects/parts/effect.ts';
import { waitsForClient } from '../effects/accept-answer.ts';
import { TurnBudget } from './turn-budget.ts';
import { warnOfLifetime } from './time/warn-of-lifetime.ts';
import { askAgainAfter, endAtOnce, isChance, timingOf } from './time/waits.ts';

/** What the running of tasks needs to know of its turn. */
export interface TaskRunnerOptions {
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  /** The client is to have a token before the first server step runs. (E1) */
  readonly commitFirst: boolean;
  readonly clock: TurnClock;
  /** Commits the state of the turn. Returns `false` if the turn ends there. */
  readonly commit: (reason: CommitReason) => Promise<boolean>;
}

type Ended = { readonly task: Task; readonly end: TaskEnd };

/** Runs what does not wait for the client, until everything waits for the client or the clock. (U1) */
export class TaskRunner {
  readonly clock: TurnClock;
  readonly budget: TurnBudget;

  readonly #options: TaskRunnerOptions;
  readonly #clocks: Clocks;
  readonly #execution: Execution;
  #runtime: Runtime;
  readonly #ends: Ended[] = [];
  #running = new Set<Task>();
  readonly #interrupted: InterruptedRun;
  #wake: (() => void) | undefined;
  #overdue: Overdue | undefined;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    this.#execution = options.execution;
    this.clock = options.clock;
    this.#clocks = new Clocks(options.clock, options.execution.pending, options.head);
    this.#runtime = options.runtime;
    this.#interrupted = new InterruptedRun(options.runtime);
    const { runtime, head, commitFirst } = options;
    this.budget = new TurnBudget({ runtime, commitFirst, turnsBefore: head.turn });
  }

  /** The journal has been replayed: what is added to it from here on is of this turn. */
  goLive(): void {
    const { uncommitted, marks } = this.#execution;
    uncommitted.clear();
    if (marks.patchedNow) uncommitted.note('chance');
    this.#interrupted.goLive(this.#execution.pending.values());
  }

  /**
   * Reason for a commit before the next effect. A request that repeats the turn may take another branch: a step ends otherwise, a
   * time has passed, no new patch applies. It must not see an undone prerequisite or an irreversible effect.
   */
  get #reason(): CommitReason | undefined {
    const { ending, uncommitted } = this.#execution;
    const commits = this.#runtime.commit !== undefined && this.budget.canSuspend;
    const reason = commits ? uncommitted.reason(ending.current !== undefined) : undefined;
    if (reason !== undefined) return reason;
    return this.#isStepUncommitted ? 'step' : undefined;
  }

  /** `true` if the next effect waits until what the last steps did is committed. */
  get #isStepUncommitted(): boolean {
    return this.#runtime.commitsEach && this.#execution.uncommitted.hasStep;
  }

  /** `true` if an effect that is due waits for a commit. */
  get #holdsEffect(): boolean {
    const now = this.clock.now();
    const isHeld = (task: Task): boolean =>
      this.#isOpen(task) && isEffect(task) && this.#clocks.dueAt(task) <= now;
    return [...this.#execution.idle].some(isHeld);
  }

  /** The turn was committed, and the next one continues. */
  committed(runtime: Runtime): void {
    this.#runtime = runtime;
    this.budget.committed(runtime);
    this.#execution.uncommitted.clear();
    this.clock.committed();
    this.#interrupted.committed(runtime, this.#execution.pending.values());
  }

  /** Runs all that is due, and what follows from it. */
  async runAll(): Promise<void> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- it comes before the next wait
      await this.#runDue();
      const reason = this.budget.canSuspend ? this.#reason : undefined;
      if (reason !== undefined && this.#holdsEffect) {
        // oxlint-disable-next-line no-await-in-loop -- nothing runs meanwhile
        if (this.budget.mayCommit(reason) && (await this.#options.commit(reason))) continue;
        return;
      }
      const now = this.clock.now();
      const tasks = [...this.#execution.pending.values()];
      const first = this.#clocks.firstOf(tasks);
      if (first === undefined || tasks.some((task) => waitsForClient(task, this.#runtime))) return;
      const isWait = first.spec.kind === 'sleep' || first.spec.kind === 'poll';
      const wait = this.budget.waitUntil(this.#clocks.dueAt(first), now, this.#isStepUncommitted, isWait);
      if (wait === undefined) return;
      if (wait === 'hopeless') this.#execution.record(first, { type: 'cannot' }, undefined);
      // oxlint-disable-next-line no-await-in-loop -- a short wait is held
      else await this.budget.hold(wait);
    }
  }

  /** Lets what was due before this turn happen at its own time, with what follows from it. */
  runOverdue(options: OverdueOptions): Promise<void> | undefined {
    const { pending } = this.#execution;
    this.#clocks.startAll();
    const end = (task: Task, type: 'passed' | 'timedOut'): void => this.#end(task, { type }, undefined);
    const run = (overdue: Overdue): Promise<void> => {
      this.#overdue = overdue;
      return this.#runDue().finally(() => (this.#overdue = undefined));
    };
    return runOverdue({ pending, clock: this.clock, end, run }, options);
  }

  /** Runs what is due, until nothing runs any more. */
  async #runDue(): Promise<void> {
    for (;;) {
      this.assertGoing();
      this.#startDue();
      const done = this.#ends.shift();
      if (done !== undefined) this.#finish(done.task, done.end);
      else if (this.#running.size === 0) return;
      // oxlint-disable-next-line no-await-in-loop -- results are taken in the order of completion (U2)
      else await this.#nextEnd();
    }
  }

  #end(task: Task, entry: TaskEntry, value: unknown): void {
    this.#execution.record(task, entry, value);
    this.#clocks.ended(task, entry.type);
  }

  /** Throws if the request was aborted. */
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

  /**
   * Notes what ended in a turn that cannot continue.
   *
   * @param isRecorded - `true` if the journal says why
   */
  drainEnds(isRecorded: boolean): void {
    for (const { task, end } of this.#ends.splice(0)) {
      if (end.entry !== undefined) this.#execution.outlived(task, end.entry, end.value, isRecorded);
    }
  }

  /** Waits for what runs, and no longer than until something else is due: a sleep may end it. (W6) */
  async #nextEnd(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const now = this.clock.now();
    const times = [...this.#execution.idle]
      .filter((task) => this.#isOpen(task))
      .map((task) => this.#clocks.dueAt(task))
      .filter((at) => at > now);
    if (times.length === 0) return await ended;
    const timer = new AbortController();
    await Promise.race([ended, this.#runtime.sleep(Math.min(...times) - now, timer.signal)]);
    timer.abort();
  }

  #isOpen(task: Task): boolean {
    return !task.discarded && !waitsForClient(task, this.#runtime);
  }

  #startDue(): void {
    const { journal } = this.#options;
    const now = this.clock.now();
    const isKept = this.#reason !== undefined;
    // To undo may take longer than any token is good.
    const lifeEndsAt = this.#execution.phase.undoes ? undefined : this.#runtime.lifeEndsAt;
    const from = this.#ends.length;
    const { idle } = this.#execution;
    for (const task of idle) {
      if (!this.#isOpen(task)) continue;
      this.#clocks.start(task, now);
      const time = this.clock.timeFor(task, now);
      if (this.#overdue?.holdsBack(task) === true) continue;
      const isMarked = this.#interrupted.mark(task, isKept);
      const type = endAtOnce(task, time, lifeEndsAt);
      const waits = type === undefined && timingOf(task, time) === 'waiting';
      const isFull = isMarked && !journal.hasRoom(this.#running.size + 1);
      if (waits || isFull || this.#isDeferred(task, type, now)) {
        // Another turn runs, withdraws, or undoes it, and has to know.
        if (isMarked) this.#execution.record(task, later(task, task.attempts, task.notBefore), undefined);
        continue;
      }
      // Before it runs: what could not be recorded had better not happen.
      journal.assertRoom(this.#running.size + 1);
      task.running = new AbortController();
      idle.delete(task);
      this.#running.add(task);
      if (type === 'cannot') warnOfLifetime(task, this.#runtime);
      if (type !== undefined) {
        this.#ends.push({ task, end: { entry: { type }, value: undefined } });
        continue;
      }
      void runTask(task, this.#runtime, task.running.signal).then((end) => {
        this.#ends.push({ task, end });
        this.#wake?.();
      });
    }
    this.#interrupted.marked(isKept);
    const at = ({ task }: Ended): number => this.#clocks.dueAt(task) || now;
    this.#ends.push(...this.#ends.splice(from).toSorted((one, other) => at(one) - at(other)));
  }

  /** Whether a task has to wait for the next turn: the time for it has not come, or is used up. (U4) */
  #isDeferred(task: Task, type: TaskEntry['type'] | undefined, now: number): boolean {
    if (task.notBefore > this.clock.timeFor(task, now) || !this.budget.hasTime(now)) return true;
    if (type !== undefined || !isEffect(task)) return false;
    return this.budget.defers(now, this.#reason !== undefined, task.spec.kind === 'poll');
  }

  #finish(task: Task, { entry, value, aborts }: TaskEnd): void {
    this.#running.delete(task);
    task.running = undefined;
    this.#execution.idle.add(task);
    this.assertGoing();
    if (aborts !== undefined) throw aborts;
    const { marks, uncommitted } = this.#execution;
    const isRun = entry !== undefined && entry.type !== 'cannot' && entry.type !== 'timedOut';
    if (isRun && isEffect(task)) uncommitted.note('step');
    if (task.discarded && (entry === undefined || isAskedOfClient(task.spec.kind))) {
      // A poll that was not answered, or a question that was answered here for nobody.
      this.#end(task, { type: task.spec.kind === 'poll' ? 'stopped' : 'withdrawn' }, undefined);
    } else if (entry === undefined) {
      askAgainAfter(task, this.clock.timeFor(task));
    } else {
      if (entry.type === 'retry' && !task.discarded) tried(task, value);
      const { discards } = marks;
      const began = this.clock.timeFor(task, this.clock.began);
      const isByChance = !task.discarded && isChance(task, entry.type, began);
      this.#end(task, entry, value);
      // What a step's end withdraws might have come before it.
      if (isByChance || marks.discards > discards) uncommitted.note('chance');
    }
  }
}
