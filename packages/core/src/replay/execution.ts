/**
 * Runs the generator of a body, and decides what each command gets. It knows no time, no storage,
 * and no client: the turn tells it the outcomes.
 *
 * 1. `start` runs the body up to its first commands. `Scheduler` resumes one fiber (body or
 *    branch) at a time, in the order in which their results arrived.
 * 2. A command of control flow (`all`, `race`, `scope`, `abort`) is carried out here. An effect
 *    becomes a `Task`, unless the next entry of the journal is its result.
 * 3. While the journal has entries, the next entry must belong to a task that waits: its result
 *    is given, and the fibers run on. An entry without a task, or a task that the entry does not
 *    fit, is a `ReplayMismatch`.
 * 4. At the end of the journal the turn goes live: `record` adds an entry, and gives the result
 *    in the same way.
 *
 * - Replay and the first run take the same path: a result reaches the body only as the journal
 *   holds it.
 * - The order of events is that of the entries. Two branches never run at once.
 * - A branch that is closed gets no result: its questions are withdrawn, its running code is
 *   awaited, and its `finally` blocks run.
 * - What a `finally` cannot finish is reported as not undone, never dropped.
 */
import { noting } from '../values/body-log.ts';
import { closeBranch, endBranch, forkBranches, nestBranch, type BranchHost } from './branches.ts';
import {
  effectOf,
  hasDescriptor,
  isAskedOfClient,
  isEffect,
  mayWait,
  onlyReads,
  type CommandSpec,
  type EffectSpec,
} from '../effects/effect-of.ts';
import type { CallSpec } from '../effects/kinds/call.ts';
import type { TurnFacts } from '../effects/parts/effect.ts';
import type { Command, GroupSpec, TellSpec } from '../model/command.ts';
import { Ending, lostUndos, type FiberEnd, Phase, type Cause } from '../undo/ending.ts';
import type { Runtime } from '../model/runtime.ts';
import { cannotSuspend, Markers, missingStore } from './markers.ts';
import { Uncommitted } from './uncommitted.ts';
import {
  AuthoringError,
  SagaAborted,
  SagaCancelled,
  SagaError,
  TurnAborted,
} from '../values/errors.ts';
import type { CreatedCommands } from './created-commands.ts';
import {
  digestOfSteps,
  Fiber,
  listedSteps,
  newTask,
  suspect,
  type Resumption,
  type Task,
} from './fiber.ts';
import type { Journal, SkippedEntry, TaskEntry } from '../journal/journal.ts';
import { assertShape } from '../journal/entry-types.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import { Scope } from '../values/path.ts';
import { RepeatedSteps, startBody } from './body.ts';
import { Scheduler, type FiberHost } from './scheduler.ts';
import { Tasks } from './tasks.ts';
import { undoAll } from '../undo/undo-all.ts';
import { UndoStack } from '../undo/undo-stack.ts';

export interface ExecutionEvents extends TurnFacts {
  readonly runtime: Runtime;
  /** `true` if the saga may have undos without a store: its older tokens may be used again. */
  readonly acceptsReuse: boolean;
  /** `false` if the saga must not ask or wait. */
  readonly suspends?: false | undefined;
  tell(spec: TellSpec): void;
}

/**
 * Runs a body against the journal: returns recorded outcomes in recorded order, and collects
 * commands that wait for an outcome. The turn executes the commands.
 */
export class Execution implements BranchHost, FiberHost {
  /** Commands that wait for an outcome, in the order of issue. */
  readonly pending: ReadonlyMap<string, Task>;
  /** Pending commands that do not run. */
  readonly idle: Set<Task>;
  readonly phase: Phase = new Phase();
  /** Steps undone so far, and steps that could not be undone. */
  readonly ending: Ending;
  readonly markers: Markers;
  readonly uncommitted: Uncommitted = new Uncommitted();
  readonly #journal: Journal;
  readonly #events: ExecutionEvents;
  readonly #fibers: Scheduler;
  readonly #stack = new UndoStack(this.phase);
  readonly #tasks: Tasks;
  readonly #repeated: RepeatedSteps | undefined;
  #root: Fiber | undefined;

  constructor(journal: Journal, events: ExecutionEvents) {
    this.#journal = journal;
    this.#events = events;
    const { limits, observer } = events.runtime;
    this.#fibers = new Scheduler(this, limits, this.#stack);
    if (observer.isStrict === true) this.#repeated = new RepeatedSteps();
    const { uncommitted, phase } = this;
    const { runtime } = events;
    this.markers = new Markers({ journal, stack: this.#stack, runtime, uncommitted, phase });
    this.ending = new Ending(this.phase, journal, this.#stack, observer, this.uncommitted);
    const parts = {
      fibers: this.#fibers,
      markers: this.markers,
      stack: this.#stack,
      ending: this.ending,
    };
    this.#tasks = new Tasks({ journal, ...parts });
    this.pending = this.#tasks.pending;
    this.idle = this.#tasks.idle;
  }

  start(body: () => Iterator<Command<unknown>, unknown, unknown>): void {
    this.#root = new Fiber(noting(this.created, body), new Scope(''));
    this.resume(this.#root, 'next', undefined);
    this.#replay();
  }

  /**
   * Ends the body from outside: no `catch` stops the end, `finally` blocks run, then finished steps
   * are undone.
   */
  endBy(error: unknown): void {
    if (!this.phase.isRunning || this.#root === undefined) return;
    this.ending.begin({ error });
    closeBranch(this, this.#root);
    this.#fibers.drain();
  }

  /**
   * Ends the body of a saga that was cancelled or whose state cannot be kept, and records the
   * reason.
   */
  fail(error: unknown): void {
    this.ending.record(error instanceof SagaCancelled ? 'cancel' : 'failure', error);
    this.endBy(error);
  }

  /** Undoes a body with an undeclared result, and records the reason. */
  refuse(error: unknown): void {
    this.ending.record('result', error);
    this.#undo(error);
    this.#fibers.drain();
  }

  /** Stops a body that cannot continue, and undoes finished steps. */
  halt(error: unknown, skipped: readonly SkippedEntry[]): void {
    this.ending.interrupt();
    this.#tasks.halt();
    this.#fibers.clear();
    this.#stack.skipped(skipped, this.#events.runtime.effects, this.ending.report);
    this.#undo(error);
    this.#replay();
  }

  /**
   * Notes the effect of a task whose body has stopped. `isRecorded`: the journal names the reason.
   */
  outlived(task: Task, entry: TaskEntry, value: unknown, isRecorded: boolean): void {
    this.#tasks.outlived(task, entry, value, isRecorded);
  }

  get created(): CreatedCommands {
    return this.#fibers.created;
  }

  /**
   * Error for an effect that must not run for the first time, because a question that comes before
   * it was never asked.
   */
  questionBefore({ spec, path, fiber, attempts, asked }: Task): AuthoringError | undefined {
    const isFirst = attempts === 0 && asked === 0;
    if (!isFirst || !isEffect({ spec }) || isAskedOfClient(spec.kind) || onlyReads(spec))
      return undefined;
    return this.created.questionBefore(fiber, path);
  }

  resume(fiber: Fiber, how: Resumption, value: unknown): void {
    this.#fibers.resume(fiber, how, value);
  }

  #replay(): void {
    this.#fibers.drain();
    while (this.#journal.replaying) {
      if (this.#journal.type === 'ended') {
        const { error, refused } = this.ending.recorded();
        if (refused) this.#undo(error);
        else this.endBy(error);
        this.#fibers.drain();
        continue;
      }
      if (this.#journal.type === 'suspected') {
        const steps = listedSteps(this.pending);
        // Code without these steps must not drop what is not known of them.
        if (digestOfSteps(steps) !== this.#journal.fingerprint)
          throw mismatchOf(this.#journal, this.pending.values());
        const turn = this.#journal.next();
        assertShape('suspected', turn);
        suspect(steps, turn as number);
        continue;
      }
      const task = this.pending.get(this.#journal.path);
      if (task === undefined) throw mismatchOf(this.#journal, this.pending.values());
      if (this.#tasks.consume(task)) this.#settle(task, this.#fibers.how, this.#fibers.value);
      this.#fibers.drain();
    }
  }

  /** Records the outcome of a task, and runs the body until every fiber waits. */
  record(task: Task, entry: TaskEntry, value: unknown): void {
    const isSettled = this.#tasks.record(task, entry, value);
    if (isSettled) this.#settle(task, this.#fibers.how, this.#fibers.value);
    this.#fibers.drain();
    // After the body has run: replay delivers the entry, too, before it meets the recorded halt.
    this.#journal.assertRoom(0);
  }

  #settle(task: Task, how: Resumption, value: unknown): void {
    this.#tasks.remove(task);
    if (task.discarded) this.resume(task.fiber, 'return', undefined);
    else if (task.spec.kind === 'call' && how === 'next')
      this.#call(task.fiber, task.spec, task.path, value);
    else this.resume(task.fiber, how, value);
  }

  /** Carries out a command. Returns `true` if the outcome is in the scheduler already. */
  issue(fiber: Fiber, spec: CommandSpec): boolean {
    if (hasDescriptor(spec)) return this.#perform(fiber, spec);
    switch (spec.kind) {
      case 'progress':
      case 'log':
        if (!this.phase.isReplaying) this.#events.tell(spec);
        return this.#give(undefined);
      case 'completeUrl':
        return this.#completeUrl(fiber, spec.id);
      case 'all':
      case 'allSettled':
      case 'race':
      case 'each':
        return this.#fork(fiber, spec);
      case 'scope':
        nestBranch(this, fiber, 'scope', spec.steps[Symbol.iterator](), fiber.scope.below(spec.id));
        return false;
      case 'patched':
        return this.#give(this.markers.patched(spec.id, spec.enabled));
      case 'pivot':
        if (this.#lacksStore) return this.#withoutStore(missingStore(spec.id));
        return this.#give(this.markers.pivot(fiber.scope.path(spec.id)));
      case 'abort':
        return this.#endSaga(fiber, { error: new SagaAborted(spec.reason) });
      case 'continueAs':
        if (this.#events.suspends === false && spec.program.suspends !== false)
          return this.#give(cannotSuspend(`continueAs('${spec.program.name}')`), 'throw');
        return this.#endSaga(fiber, { next: { program: spec.program, args: spec.args } });
    }
  }

  /** Only the client knows the page, so only a page that the client has answered for is told of. */
  #completeUrl(fiber: Fiber, id: string): true {
    // Commands of other kinds may have used the ID since.
    const isAnswered = (path: string): boolean => this.#journal.answeredBy(path) !== undefined;
    const path = fiber.scope.uses(id).find(isAnswered) ?? id;
    const by = this.#journal.answeredBy(path);
    // A replay must throw the same, because the body may catch the error.
    if (by === undefined) return this.#give(neverOpened(id), 'throw');
    if (by === 'client' && !this.phase.isReplaying)
      this.#events.tell({ kind: 'completeUrl', id: path });
    return this.#give(undefined);
  }

  #perform(fiber: Fiber, spec: EffectSpec): boolean {
    // The descriptor comes last: replay of most commands needs nothing of it.
    if (fiber.isEnding && effectOf(spec).place === 'client') {
      const error = new AuthoringError(
        `'${spec.id}' cannot be asked while its branch is ended or undone. Ask before.`,
        { anchor: 'undos' },
      );
      return this.#give(error, 'throw');
    }
    if (this.#lacksStore && effectOf(spec).needsStore?.(spec) === true)
      return this.#withoutStore(missingStore(spec.id, spec.kind === 'step' && spec.once));
    if (this.#events.suspends === false && mayWait(spec))
      return this.#give(cannotSuspend(`'${spec.id}'`), 'throw');
    return this.#await(fiber, asAnswered(spec, fiber));
  }

  #give(value: unknown, how: Resumption = 'next'): true {
    this.#fibers.how = how;
    this.#fibers.value = value;
    return true;
  }

  /**
   * Refuses what needs a store. A replay may have passed here while the host had one: then the turn
   * is aborted, and the saga stays as it is, because an older token could repeat any undo.
   */
  #withoutStore(error: AuthoringError): true {
    if (this.#journal.replaying) throw new TurnAborted(error);
    return this.#give(error, 'throw');
  }

  /** `true` if an older token could be used again after an undo, a pivot, or a `once` step. */
  get #lacksStore(): boolean {
    const { acceptsReuse, runtime } = this.#events;
    return !acceptsReuse && runtime.effects.claim === undefined;
  }

  #endSaga(fiber: Fiber, cause: Cause): boolean {
    if (fiber.undoes) {
      return this.#give(
        new SagaError(
          'An undo cannot call abort() or continueAs(): the saga is ending. Throw an error instead.',
        ),
        'throw',
      );
    }
    const ending = fiber.isEnding;
    if (!this.phase.isRunning || this.#root === undefined || (ending && 'next' in cause))
      return this.#give(undefined);
    if ('next' in cause && !this.#stack.empty) return this.#give(lostUndos(), 'throw');
    this.ending.begin(cause);
    closeBranch(this, this.#root);
    return ending && this.#give(undefined);
  }

  #await(fiber: Fiber, spec: EffectSpec): boolean {
    const key = spec.kind === 'step' ? spec.key : undefined;
    const path = fiber.scope.path(key === undefined ? spec.id : `${spec.id}(${key})`);
    this.#repeated?.note(spec, path, this.#journal.replaying);
    // The next entry is taken at once only if no other branch has to run first, as in the first
    // run.
    if ((this.#fibers.idle || effectOf(spec).read !== undefined) && this.#journal.isAbout(path)) {
      if (!this.#tasks.takePlain(fiber, spec, path)) {
        const task = newTask(fiber, spec, path);
        if (!this.#tasks.consume(task)) {
          this.#tasks.wait(task);
          return false;
        }
      }
      if (spec.kind !== 'call' || this.#fibers.how !== 'next') return true;
      this.#call(fiber, spec, path, this.#fibers.value);
      return false;
    }
    const task = newTask(fiber, spec, path);
    const { entries, read } = effectOf(spec);
    if (read === undefined) {
      this.#tasks.wait(task);
      return false;
    }
    if (this.#journal.replaying) throw mismatchOf(this.#journal, [task]);
    this.#tasks.read(task, entries[0], read(this.#events));
    return true;
  }

  #fork(fiber: Fiber, spec: GroupSpec): boolean {
    for (const { steps } of spec.branches) this.created.take(steps);
    const group = forkBranches(this, fiber, spec);
    return group.open === 0 && this.#give(group.result());
  }

  /** Ends a fiber. The end of the body ends the saga or starts the undo. */
  ended(fiber: Fiber, end: FiberEnd): void {
    if (fiber.group !== undefined) {
      endBranch(this, fiber, fiber.group, end);
      return;
    }
    fiber.ended = true;
    if (fiber !== this.#root) {
      this.phase.undone();
      return;
    }
    const failure = this.ending.bodyEnded(end);
    if (failure !== undefined) this.#undo(failure.error);
  }

  #undo(error: unknown): void {
    this.ending.beginUndo(error);
    this.#fibers.recount();
    const fiber = new Fiber(undoAll(this.ending), new Scope(''));
    fiber.serverOnly = true;
    this.resume(fiber, 'next', undefined);
  }

  /** Withdraws an unstarted task or a question. Returns `false` if the task must be awaited. */
  withdraw(task: Task): boolean {
    return this.#tasks.withdraw(task);
  }

  #call(fiber: Fiber, spec: CallSpec, path: string, input: unknown): void {
    try {
      this.created.creator = fiber;
      const body = noting(this.created, () => startBody(spec.id, spec.body, input));
      nestBranch(this, fiber, 'call', body, new Scope(`${path}/`), spec.answeredBy);
    } catch (error) {
      this.resume(fiber, 'throw', error);
    }
  }
}

/** A question of a called saga, which keeps its own word on who may answer. */
function asAnswered(spec: EffectSpec, { answeredBy }: Fiber): EffectSpec {
  const isOpen = answeredBy !== undefined && 'answeredBy' in spec && spec.kind !== 'call';
  return isOpen && spec.answeredBy === undefined ? { ...spec, answeredBy } : spec;
}

function neverOpened(id: string): AuthoringError {
  return new AuthoringError(
    `elicitUrl.complete('${id}') needs an elicitUrl('${id}') that was answered before.`,
    { anchor: 'questions' },
  );
}
