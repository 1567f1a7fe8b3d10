import {
  Clocks,
  type TurnClock,
  runOverdue,
  type Overdue,
  type OverdueOptions,
} from './time/clocks.ts';
import { isAskedOfClient, isEffect, isQuestion, onlyReads } from '../effects/effect-of.ts';
import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnAborted } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import { noteAttempts, type Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import { InterruptedRun } from './interrupted-run.ts';
import type { Journal, TaskEntry } from '../journal/journal.ts';
import { isVitalStep, retryEntry } from '../effects/kinds/step.ts';
import { runTask, waitsForClient } from '../effects/end-task.ts';
import type { TaskEnd } from '../effects/parts/effect.ts';
import { Room } from './room.ts';
import { Slots } from './slots.ts';
import { TurnBudget } from './turn-budget.ts';
import { askAgainAfter, endAtOnce, isChance, timingOf, warnOfLifetime } from './time/waits.ts';

export interface TaskRunnerOptions {
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  readonly clock: TurnClock;
  /** Commits the state of the turn. Returns `false` if the turn ends there. */
  readonly commit: (reason: CommitReason) => Promise<boolean>;
}

type Ended = { readonly task: Task; readonly end: TaskEnd };

/** Runs tasks until every task waits for the client or the clock. */
export class TaskRunner {
  readonly clock: TurnClock;
  readonly budget: TurnBudget;
  readonly room: Room;
  readonly #options: TaskRunnerOptions;
  readonly #clocks: Clocks;
  readonly #execution: Execution;
  #runtime: Runtime;
  readonly #ends: Ended[] = [];
  #running = new Set<Task>();
  #slots = new Slots();
  readonly #interrupted: InterruptedRun;
  #wake: (() => void) | undefined;
  #overdue: Overdue | undefined;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    this.#execution = options.execution;
    this.clock = options.clock;
    this.#clocks = new Clocks(options.clock, options.execution.pending, options.head);
    this.#runtime = options.runtime;
    this.#interrupted = new InterruptedRun(options.runtime.turn, options.head.interrupted);
    const { journal, execution } = options;
    this.room = new Room({
      runtime: () => this.#runtime,
      state: () => journal.state,
      addedLength: () => journal.addedLength,
      pending: () => [...execution.pending.values()],
    });
    this.budget = new TurnBudget(options.runtime, options.execution.uncommitted);
  }

  /**
   * Number of an interrupted turn, while the saga waits for a time that its run may have seen pass.
   * The answers to an approval are no such time: a repetition reads what the run has read.
   */
  get interruptedAhead(): number | undefined {
    const waits = [...this.#execution.pending.values()].some(isTimed);
    return waits ? this.#interrupted.ahead : undefined;
  }

  /** Starts the live phase, after replay. */
  goLive(): void {
    this.#execution.uncommitted.clear();
    this.#interrupted.goLive(this.#execution.pending.values());
  }

  /** `true` once the undo of a step has begun. */
  get #isUndoing(): boolean {
    return this.#execution.ending.current !== undefined;
  }

  /** Reason for a commit that a due effect waits for. */
  get #reasonToCommit(): CommitReason | undefined {
    const now = this.clock.now();
    if (this.#holdsVital(now)) return 'vital';
    const holdsEffect = this.#holdsEffect(now);
    const isHeld = (task: Task): boolean =>
      this.#isOpen(task) &&
      this.#waitsForCommit(task, holdsEffect) &&
      this.#clocks.dueAt(task) <= now;
    return [...this.#execution.idle].some(isHeld)
      ? this.budget.reasonToCommit(this.#isUndoing)
      : undefined;
  }

  /**
   * `true` if a commit must come before a task.
   * @param holdsEffect - `true` if a due effect waits for it
   */
  #waitsForCommit(task: Task, holdsEffect: boolean): boolean {
    if (!isEffect(task)) return false;
    const isRead = onlyReads(task.spec) && !holdsEffect;
    return this.budget.waitsForCommit(isRead, this.#isUndoing);
  }

  /**
   * `true` if a due effect waits for a commit. Reads wait with it, because the commit waits for
   * whatever runs.
   */
  #holdsEffect(now: number): boolean {
    if (this.budget.reasonToCommit(this.#isUndoing) === undefined) return false;
    return [...this.#execution.idle].some(
      (task) =>
        this.#isOpen(task) &&
        isEffect(task) &&
        !onlyReads(task.spec) &&
        this.#clocks.dueAt(task) <= now,
    );
  }

  /**
   * `true` for what would be lost with this turn, and must not be: a step with an undo or `once`,
   * a link that goes out to other people, and each step that is to be committed.
   */
  #isVital({ spec }: Task): boolean {
    if (!this.budget.holdsVital) return false;
    if (spec.kind === 'open') return true;
    if (spec.kind !== 'step') return false;
    return this.#runtime.turn.commitsEach || isVitalStep(spec);
  }

  /** `true` if an effect is due that waits until somebody holds the saga. */
  #holdsVital(now: number): boolean {
    if (!this.budget.holdsVital || !this.budget.canSuspend) return false;
    const isDue = (task: Task): boolean =>
      this.#isOpen(task) && this.#isVital(task) && this.#clocks.dueAt(task) <= now;
    return [...this.#execution.idle].some(isDue);
  }

  /** Continues with the next turn after a commit. */
  committed(runtime: Runtime, { interrupted }: Pick<Head, 'interrupted'>): void {
    this.#runtime = runtime;
    this.budget.committed(runtime);
    this.clock.committed();
    this.#interrupted.committed(runtime.turn, this.#execution.pending.values(), interrupted);
  }

  /** Runs all due tasks, and the tasks that follow. */
  async runAll(): Promise<void> {
    for (;;) {
      await this.#runDue();
      const reason = this.budget.canSuspend ? this.#reasonToCommit : undefined;
      if (reason !== undefined) {
        if (this.budget.mayCommit(reason) && (await this.#options.commit(reason))) continue;
        return;
      }
      const now = this.clock.now();
      const tasks = [...this.#execution.pending.values()];
      const first = this.#clocks.firstOf(tasks);
      if (
        first === undefined ||
        tasks.some((task) => waitsForClient(task, this.#runtime.questions))
      )
        return;
      const isWait = first.spec.kind === 'sleep' || first.spec.kind === 'poll';
      const due = this.#clocks.dueAt(first);
      const wait = this.budget.waitUntil(due, now, isWait);
      if (wait === undefined) return;
      if (wait === 'hopeless') this.#execution.record(first, { type: 'cannot' }, undefined);
      else await this.budget.hold(wait);
    }
  }

  /** Runs overdue tasks, each at the due time, and the tasks that follow. */
  runOverdue(options: OverdueOptions): Promise<void> | undefined {
    const { pending } = this.#execution;
    this.#clocks.startAll();
    const end = (task: Task, type: 'passed' | 'timedOut'): void =>
      this.#end(task, { type }, undefined);
    const run = (overdue: Overdue): Promise<void> => {
      this.#overdue = overdue;
      return this.#runDue().finally(() => (this.#overdue = undefined));
    };
    return runOverdue({ pending, clock: this.clock, end, run }, options);
  }

  /** Runs due tasks until no task runs. */
  async #runDue(): Promise<void> {
    for (;;) {
      this.assertGoing();
      this.#startDue();
      const done = this.#ends.shift();
      if (done !== undefined) this.#finish(done.task, done.end);
      else if (this.#running.size === 0) return;
      else await this.#nextEnd();
    }
  }

  #end(task: Task, entry: TaskEntry, value: unknown): void {
    this.#execution.record(task, entry, value);
    this.#clocks.ended(task, entry.type);
  }

  assertGoing(): void {
    if (this.#runtime.request.signal.aborted)
      throw new TurnAborted(this.#runtime.request.signal.reason);
  }

  /** Listener for the abort of the request. Undefined until the turn first waits for a task. */
  onAbort: (() => void) | undefined;

  /** Aborts running tasks. */
  abort(reason: unknown): void {
    for (const task of this.#running) task.running?.abort(reason);
  }

  /** Aborts and awaits running tasks, before the turn ends. */
  async stop(reason: unknown): Promise<void> {
    this.abort(reason);
    while (this.#running.size > this.#ends.length) {
      await this.#woken();
    }
    this.#running = new Set();
    this.#slots = new Slots();
  }

  /**
   * Notes effects that completed in an aborted turn. `isRecorded`: the journal names the reason.
   */
  drainEnds(isRecorded: boolean): void {
    for (const { task, end } of this.#ends.splice(0)) {
      if (end.entry !== undefined) this.#execution.outlived(task, end.entry, end.value, isRecorded);
    }
  }

  /** Waits until a running task ends. */
  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * Waits until a running task ends or another task is due, such as a sleep that ends the running
   * task.
   */
  async #nextEnd(): Promise<void> {
    const ended = this.#woken();
    // Added late, because the listener would cost a turn without steps 5 %.
    const { signal } = this.#runtime.request;
    if (signal.aborted) this.abort(signal.reason);
    else if (this.onAbort === undefined)
      signal.addEventListener('abort', (this.onAbort = () => this.abort(signal.reason)), {
        once: true,
      });
    const now = this.clock.now();
    const times = [...this.#execution.idle]
      .filter((task) => this.#isOpen(task))
      .map((task) => this.#clocks.dueAt(task))
      .filter((at) => at > now);
    if (times.length === 0) return await ended;
    const timer = new AbortController();
    await Promise.race([ended, this.#runtime.time.sleep(Math.min(...times) - now, timer.signal)]);
    timer.abort();
  }

  #isOpen(task: Task): boolean {
    return !task.discarded && !waitsForClient(task, this.#runtime.questions);
  }

  #startDue(): void {
    const { journal } = this.#options;
    const now = this.clock.now();
    const isKept = this.budget.reasonToCommit(this.#isUndoing) !== undefined;
    // An undo may take longer than the lifetime of a token.
    const lifeEndsAt = this.#execution.phase.undoes ? undefined : this.#runtime.saga.lifeEndsAt;
    const from = this.#ends.length;
    const { idle } = this.#execution;
    // Other effects wait with it, so that the commit need not wait for them.
    const holdsVital = this.#holdsVital(now);
    const holdsEffect = this.#holdsEffect(now);
    const { pending } = this.#execution;
    // What is overdue may still end the list before its steps, and what runs needs its own room.
    if (!isKept && this.#overdue === undefined && journal.hasRoom(this.#running.size + 1))
      this.#interrupted.suspectListed(pending, journal);
    const candidates = this.#slots.candidates(
      idle,
      (task) => this.#isOpen(task) && runsCode(task),
      (task) => pending.get(task.path) === task,
      (task) => this.#interrupted.held(task, isKept),
    );
    for (const task of candidates) {
      if (!this.#isOpen(task)) continue;
      this.#clocks.start(task, now);
      const time = this.clock.timeFor(task, now);
      if (this.#overdue?.holdsBack(task) === true) continue;
      const isMarked = this.#interrupted.mark(task, isKept);
      const type = endAtOnce(task, time, lifeEndsAt);
      const waits = type === undefined && timingOf(task, time) === 'waiting';
      const isFull = isMarked && !journal.hasRoom(this.#running.size + 1);
      const isHeld = type === undefined && holdsVital && isEffect(task);
      if (waits || isFull || isHeld || this.#isDeferred(task, type, now, holdsEffect)) {
        // Another turn runs, withdraws, or undoes the step, and needs the mark.
        if (isMarked)
          this.#execution.record(task, retryEntry(task, task.attempts, task.notBefore), undefined);
        continue;
      }
      // Before the task runs: an effect without room for the entry must not happen.
      journal.assertRoom(this.#running.size + 1);
      task.running = new AbortController();
      idle.delete(task);
      this.#running.add(task);
      if (runsCode(task)) this.#slots.take(task);
      if (type === 'cannot') warnOfLifetime(task, this.#runtime);
      if (type !== undefined) {
        this.#ends.push({ task, end: { entry: { type }, value: undefined } });
        continue;
      }
      const run = {
        signal: task.running.signal,
        share: (): Promise<number> => this.room.share(task),
        refused: this.#execution.questionBefore(task),
      };
      void runTask(task, this.#runtime, run).then((end) => {
        this.#ends.push({ task, end });
        this.#wake?.();
      });
    }
    this.#interrupted.marked(isKept);
    const at = ({ task }: Ended): number => this.#clocks.dueAt(task) || now;
    this.#ends.push(...this.#ends.splice(from).toSorted((one, other) => at(one) - at(other)));
  }

  /** `true` if a task waits for the next turn: not due, or the budget is used up. */
  #isDeferred(
    task: Task,
    type: TaskEntry['type'] | undefined,
    now: number,
    holdsEffect: boolean,
  ): boolean {
    if (task.notBefore > this.clock.timeFor(task, now) || !this.budget.hasTime(now)) return true;
    const isVital = this.#isVital(task);
    if (type !== undefined || !(isVital || isEffect(task))) return false;
    return this.budget.defers(now, this.#waitsForCommit(task, holdsEffect), isVital);
  }

  #finish(task: Task, { entry, value, aborts }: TaskEnd): void {
    this.#running.delete(task);
    if (runsCode(task)) this.#slots.free(task);
    task.running = undefined;
    this.#execution.idle.add(task);
    this.assertGoing();
    if (aborts !== undefined) throw aborts;
    const { markers, uncommitted } = this.#execution;
    const isRun = entry !== undefined && entry.type !== 'cannot' && entry.type !== 'timedOut';
    const isRead = onlyReads(task.spec);
    if (isRun && isEffect(task)) uncommitted.noteStep(isRead, false);
    if (task.discarded && (entry === undefined || isAskedOfClient(task.spec.kind))) {
      // A poll without an answer, or a question answered by the server after the branch had ended.
      this.#end(task, { type: task.spec.kind === 'poll' ? 'stopped' : 'withdrawn' }, undefined);
    } else if (entry === undefined) {
      askAgainAfter(task, this.clock.timeFor(task));
    } else {
      if (entry.type === 'retry' && !task.discarded) noteAttempts(task, value);
      const { discards } = markers;
      const began = this.clock.timeFor(task, this.clock.began);
      const isByChance = !task.discarded && isChance(task, entry.type, began);
      this.#end(task, entry, value);
      // Tasks withdrawn by the end of a step might have ended first.
      if (!isByChance && markers.discards === discards) return;
      if (isRun && isEffect(task)) uncommitted.noteStep(isRead, true);
      else uncommitted.note('chance');
    }
  }
}

/** `true` for a task that waits for a time, or for something that changes with time. */
function isTimed({ spec, discarded }: Task): boolean {
  if (discarded) return false;
  return spec.kind === 'sleep' || (spec.kind === 'poll' && spec.outside === undefined);
}

/** `true` for a task that runs code of an author or a model: a step, or a question answered here. */
function runsCode({ spec, route }: Task): boolean {
  return spec.kind === 'step' || (isQuestion(spec) && route !== 'cannot');
}
