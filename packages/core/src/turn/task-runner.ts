import { isChance } from './time/chance.ts';
import { Clocks } from './time/clocks.ts';
import { isAskedOfClient, isEffect } from '../effects/effect-of.ts';
import type { GoesOn } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnAborted } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import { tried, type Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import { InterruptedRun } from './interrupted-run.ts';
import type { Journal, TaskEntry } from '../journal/journal.ts';
import { nextWait } from './time/next-wait.ts';
import { runOverdue, type Overdue, type OverdueOptions } from './time/overdue.ts';
import { later } from '../effects/kinds/step.ts';
import { runTask } from '../effects/run-task.ts';
import type { TaskEnd } from '../effects/parts/effect.ts';
import { waitsForClient } from '../effects/routes.ts';
import { warnOfLifetime } from './time/warn-of-lifetime.ts';
import { askAgainAfter, dueAt, endAtOnce, timingOf } from './time/waits.ts';

/** What the running of tasks needs to know of its turn. */
export interface DueTasksOptions {
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  /** The client is to have a token before the first server step runs. (E1) */
  readonly commitFirst: boolean;
  /** It was this turn that found that the saga does not fit the code and is to be undone. */
  readonly isLeftNow: boolean;
  /** How long ago the turn was begun for the first time (ms). */
  readonly late: number;
}

type Ended = { readonly task: Task; readonly end: TaskEnd };

/** Runs what does not wait for the client, until everything waits for the client or the clock. (U1) */
export class DueTasks {
  /** A state that could not be sealed anyway is not handed out: undoing goes on to its end. */
  canSuspend = true;
  /** The saga was ended in this turn: it is kept before anything else is done. */
  isEnded = false;
  readonly clocks: Clocks;

  readonly #options: DueTasksOptions;
  readonly #execution: Execution;
  readonly #runtime: Runtime;
  readonly #ends: Ended[] = [];
  #running = new Set<Task>();
  #held = 0;
  /** How many server steps have ended in this turn. */
  #effects = 0;
  /** How far the journal was when this turn began to add to it. */
  #liveFrom = 0;
  /** How far the journal was when this turn last came to something that a repetition may not come to. */
  #chanceAt = 0;
  readonly #interrupted: InterruptedRun;
  #wake: (() => void) | undefined;
  #overdue: Overdue | undefined;

  constructor(options: DueTasksOptions) {
    this.#options = options;
    this.#execution = options.execution;
    this.clocks = new Clocks(options.execution.pending, options.head, options.late);
    this.#runtime = options.runtime;
    this.#interrupted = new InterruptedRun(options.runtime);
  }

  /** The journal has been replayed: what is added to it from here on is of this turn. */
  goLive(now: number): void {
    this.clocks.began ||= now;
    this.#liveFrom = this.#options.journal.count;
    this.#interrupted.goLive(this.#execution.pending.values());
  }

  /** What this turn was ended for before its time: what could run now goes on in another one. */
  get goesOn(): GoesOn | undefined {
    const kept = this.#kept;
    const now = this.#runtime.now();
    const isHeld = (task: Task): boolean => this.#isOpen(task) && isEffect(task) && dueAt(task) <= now;
    return [...this.#execution.pending.values()].some(isHeld) ? kept : undefined;
  }

  /** Reason why this turn runs nothing else. */
  get #kept(): GoesOn | undefined {
    return this.#keepsBefore ?? (this.#isStepKept ? 'step' : undefined);
  }

  /**
   * What this turn ends for, since it is this turn that came to it: it undoes next, or has passed a pivot, a timer, or a failure.
   * A request that repeats it may come to something else: a step ends otherwise, a time has passed meanwhile, no new patch applies.
   * It must find neither undone what it needs, nor done what nobody takes back or knows of.
   */
  get #keepsBefore(): Exclude<GoesOn, 'step'> | undefined {
    if (this.#runtime.checkpointBeforeUndo !== true || !this.canSuspend) return undefined;
    if (this.isEnded) return 'undo';
    const { ending, marks } = this.#execution;
    const undoes = ending.current !== undefined;
    if (undoes && (this.#options.isLeftNow || ending.undoesFrom > this.#liveFrom)) return 'undo';
    if (marks.pivotedAt > this.#liveFrom) return 'pivot';
    if (this.#chanceAt <= this.#liveFrom && !marks.patchedNow) return undefined;
    return undoes ? 'undo' : 'chance';
  }

  /** Whether what a step of this turn did is kept before the next one runs. */
  get #isStepKept(): boolean {
    return this.#runtime.checkpointAfterStep && this.#effects > 0;
  }

  /** Runs all that is due, and what follows from it. */
  async runAll(): Promise<void> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- it comes before the next wait
      await this.#runDue();
      const now = this.#runtime.now();
      const isInTime = this.canSuspend && this.hasTime(now);
      const times = { now, held: this.#held, room: this.#room(now), isInTime };
      const wait = nextWait(this.#execution.pending, this.#runtime, times);
      if (wait === undefined) return;
      if (wait.hopeless !== undefined) {
        this.#execution.record(wait.hopeless, { type: 'cannot' }, undefined);
        continue;
      }
      this.#held += wait.ms;
      // oxlint-disable-next-line no-await-in-loop -- a short wait is held (W6)
      await this.#runtime.sleep(wait.ms, this.#runtime.stops ?? this.#runtime.signal);
    }
  }

  /** Lets what was due before this turn happen at its own time, with what follows from it. */
  runOverdue(options: OverdueOptions): Promise<void> | undefined {
    const { pending } = this.#execution;
    const { heardAt } = this.clocks;
    this.clocks.startAll();
    const end = (task: Task, type: 'passed' | 'timedOut'): void => this.#end(task, { type }, undefined);
    const run = (overdue: Overdue): Promise<void> => {
      this.#overdue = overdue;
      return this.#runDue().finally(() => (this.#overdue = undefined));
    };
    return runOverdue({ pending, heardAt, now: () => this.#runtime.now(), end, run }, options);
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
    this.clocks.ended(task, entry.type);
  }

  /** Whether anything may still be run in this turn, or has to wait for the next one. (U4, W7) */
  hasTime(now: number): boolean {
    const { deadline = Number.POSITIVE_INFINITY, stops } = this.#runtime;
    return !this.canSuspend || (now < deadline && stops?.aborted !== true);
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
      .filter((task) => this.#isOpen(task))
      .map(dueAt)
      .filter((at) => at > now);
    if (times.length === 0) return await ended;
    const timer = new AbortController();
    await Promise.race([ended, this.#runtime.sleep(Math.min(...times) - now, timer.signal)]);
    timer.abort();
  }

  /** Whether a task is neither the client's nor running. */
  #isOpen(task: Task): boolean {
    return task.running === undefined && !task.discarded && !waitsForClient(task, this.#runtime);
  }

  #startDue(): void {
    const { journal } = this.#options;
    const now = this.#runtime.now();
    const isKept = this.#kept !== undefined;
    const from = this.#ends.length;
    for (const task of this.#execution.pending.values()) {
      if (!this.#isOpen(task)) continue;
      this.clocks.start(task, now);
      if (this.#overdue?.holdsBack(task) === true) continue;
      const isMarked = this.#interrupted.mark(task, isKept);
      const type = endAtOnce(task, now, this.#lifeEndsAt);
      const waits = type === undefined && timingOf(task, now) === 'waiting';
      const isFull = isMarked && !journal.hasRoom(this.#running.size + 1);
      if (waits || isFull || this.#isDeferred(task, type, now)) {
        // Another turn runs, withdraws, or undoes it, and has to know.
        if (isMarked) this.#execution.record(task, later(task, task.attempts, task.notBefore), undefined);
        continue;
      }
      // Before it runs: what could not be recorded had better not happen.
      journal.assertRoom(this.#running.size + 1);
      task.running = new AbortController();
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
    const at = ({ task }: Ended): number => dueAt(task) || now;
    this.#ends.push(...this.#ends.splice(from).toSorted((one, other) => at(one) - at(other)));
  }

  /** Whether a task has to wait for the next turn: the time for it has not come, or is used up. (U4) */
  #isDeferred(task: Task, type: TaskEntry['type'] | undefined, now: number): boolean {
    if (task.notBefore + task.late > now || !this.hasTime(now)) return true;
    if (type !== undefined || !isEffect(task)) return false;
    if (this.#runtime.defersEffects === true) return true;
    if (!this.canSuspend) return false;
    if (this.#kept !== undefined) return true;
    const { commitFirst, head } = this.#options;
    return commitFirst && task.spec.kind !== 'poll' && head.turn === 0 && this.#runtime.tokenBytes === 0;
  }

  /** When no token is good any more; undefined while the saga is undone, which may take longer. */
  get #lifeEndsAt(): number | undefined {
    return this.#execution.ending.undoes ? undefined : this.#runtime.lifeEndsAt;
  }

  /** How long this request can still be held, in milliseconds. */
  #room(now: number): number {
    const { deadline, maxHold } = this.#runtime;
    if (!this.canSuspend) return Number.POSITIVE_INFINITY;
    if (this.#isStepKept || this.#runtime.stops?.aborted === true) return 0;
    return deadline === undefined ? Number.POSITIVE_INFINITY : Math.min(maxHold - this.#held, deadline - now);
  }

  #finish(task: Task, { entry, value, aborts }: TaskEnd): void {
    this.#running.delete(task);
    task.running = undefined;
    this.assertGoing();
    if (aborts !== undefined) throw aborts;
    const isRun = entry !== undefined && entry.type !== 'cannot' && entry.type !== 'timedOut';
    if (isRun && isEffect(task)) this.#effects += 1;
    if (task.discarded && (entry === undefined || isAskedOfClient(task.spec.kind))) {
      // A poll that was not answered, or a question that was answered here for nobody.
      this.#end(task, { type: task.spec.kind === 'poll' ? 'stopped' : 'withdrawn' }, undefined);
    } else if (entry === undefined) {
      askAgainAfter(task, this.#runtime.now());
    } else {
      if (entry.type === 'retry' && !task.discarded) tried(task, value);
      const { marks } = this.#execution;
      const { discards } = marks;
      const isByChance = !task.discarded && isChance(task, entry.type, this.clocks.began);
      this.#end(task, entry, value);
      // What a step's end withdraws might have come before it.
      if (isByChance || marks.discards > discards) this.#chanceAt = this.#options.journal.count;
    }
  }
}
