import { closeBranch, endBranch, forkBranches, nestBranch, type BranchHost } from './branches.ts';
import { decode, encode } from './codec.ts';
import type { Command } from './command.ts';
import { isAskedOfClient, type CommandSpec, type GroupSpec, type JournalledSpec } from './command-spec.ts';
import { SagaAborted, SagaCancelled, SagaError, type ReplayMismatch } from './errors.ts';
import { Fiber, newTask, tried, type FiberEnd, type Resumption, type Task } from './fiber.ts';
import { lettersOf, type Journal, type NewEntry, type SkippedEntry } from './journal.ts';
import { Marks } from './marks.ts';
import { mismatchOf } from './mismatch.ts';
import { outcomeOf } from './outcome-of.ts';
import { Scope } from './path.ts';
import type { Program, Runtime } from './program.ts';
import { Scheduler, type FiberHost } from './scheduler.ts';
import { startBody } from './start-body.ts';
import { undoAll, undoMark, type BoundUndo, type UndoReport } from './undo.ts';
import { UndoStack } from './undo-stack.ts';

/** How a body ended, and what was undone. */
export type ExecutionEnd =
  | { readonly result: unknown }
  | { readonly error: unknown }
  | { readonly next: { readonly program: Program; readonly args: unknown } };

type Ending = Exclude<ExecutionEnd, { readonly result: unknown }>;

/** What an execution is to tell its turn. */
export interface ExecutionEvents {
  /** Whether what is told now is news: false while the journal is replayed. */
  live: boolean;
  readonly runtime: Runtime;
  /** Whether the saga declares what an older token used again may do. (E7) */
  readonly declaresForks: boolean;
  tell(spec: Extract<CommandSpec, { kind: 'progress' | 'log' }>): void;
  info(): unknown;
}

/**
 * Runs a body by its journal: hands out recorded outcomes in the order they were recorded, and collects the
 * commands that wait for an outcome. It executes nothing itself; the turn does.
 */
export class Execution implements BranchHost, FiberHost {
  /** Commands that wait for an outcome, in the order they were asked. */
  readonly pending: Map<string, Task> = new Map();
  /** How the body ended. */
  end: ExecutionEnd | undefined;
  /** What was undone so far, and what could not be. */
  readonly report: UndoReport = { compensated: [], residue: [] };

  readonly #journal: Journal;
  readonly #events: ExecutionEvents;
  readonly #fibers: Scheduler;
  readonly #marks: Marks;
  readonly #stack = new UndoStack();
  #root: Fiber | undefined;
  #ending: Ending | undefined;

  constructor(journal: Journal, events: ExecutionEvents) {
    this.#journal = journal;
    this.#events = events;
    const { warn, limits } = events.runtime;
    this.#fibers = new Scheduler(this, { maxCommands: limits.maxCommands, noteFloats: warn !== undefined });
    this.#marks = new Marks(journal, this.#stack, events.runtime);
  }

  /** Starts the body and runs it as far as it goes, by the journal as far as that goes. */
  start(body: () => Iterator<Command<unknown>, unknown, unknown>): void {
    this.#root = new Fiber(this.#fibers.noting(body), new Scope(''));
    this.resume(this.#root, 'next', undefined);
    this.#replay();
  }

  /** Ends the body from outside: no `catch` can swallow it, `finally` runs, and then what was done is undone. (E6) */
  endBy(error: unknown): void {
    if (this.#ending !== undefined || this.end !== undefined || this.#root === undefined) return;
    this.#ending = { error };
    closeBranch(this, this.#root);
    this.#fibers.drain();
  }

  /** Ends the body because its saga was cancelled, and records that. */
  cancel(error: SagaCancelled): void {
    this.#journal.append({
      letter: 'a',
      path: `${undoMark}cancel`,
      fingerprint: 0,
      text: encode(error.reason ?? null),
    });
    this.endBy(error);
  }

  /** What the journal has next, beside what the code waits for. */
  mismatch(): ReplayMismatch {
    return mismatchOf(this.#journal, this.pending.values());
  }

  /** Leaves a body that cannot go on where it stands, and undoes what it did. */
  abandon(error: unknown, skipped: readonly SkippedEntry[]): void {
    this.pending.clear();
    this.#fibers.clear();
    this.end = undefined;
    this.#stack.skipped(skipped, this.#events.runtime);
    this.#undo(error);
    this.#replay();
  }

  /** Commands that were created and never yielded. */
  floated(): readonly CommandSpec[] {
    return this.#fibers.floated();
  }

  /** Queues a fiber to be resumed. */
  resume(fiber: Fiber, how: Resumption, value: unknown): void {
    this.#fibers.resume(fiber, how, value);
  }

  #replay(): void {
    this.#fibers.drain();
    while (this.#journal.replaying) {
      if (this.#journal.letter === 'a') {
        const reason = this.#journal.next();
        this.endBy(new SagaCancelled(typeof reason === 'string' ? reason : undefined));
        continue;
      }
      const task = this.pending.get(this.#journal.path);
      if (task === undefined) throw this.mismatch();
      if (this.#consume(task)) this.#settle(task, this.#fibers.how, this.#fibers.value);
      this.#fibers.drain();
    }
  }

  /** Records what became of a task, and runs the body as far as it goes. */
  record(task: Task, entry: Omit<NewEntry, 'path' | 'fingerprint'>, value: unknown): void {
    this.#journal.append({ ...entry, path: task.path, fingerprint: task.fingerprint });
    if (entry.letter === 't') {
      // It was to be tried again, but its branch has been ended meanwhile.
      if (task.discarded) this.record(task, { letter: 'w' }, undefined);
      return;
    }
    this.#outcome(task, entry.letter, value, this.#marks.bind(task, entry.letter, value));
    this.#settle(task, this.#fibers.how, this.#fibers.value);
    this.#fibers.drain();
  }

  #settle(task: Task, how: Resumption, value: unknown): void {
    this.pending.delete(task.path);
    task.fiber.waiting = undefined;
    if (task.discarded) this.resume(task.fiber, 'return', undefined);
    else if (task.spec.kind === 'call' && how === 'next') this.#call(task.fiber, task.spec, task.path, value);
    else this.resume(task.fiber, how, value);
  }

  /** Carries out a command; true when its outcome is there already. */
  issue(fiber: Fiber, spec: CommandSpec): boolean {
    switch (spec.kind) {
      case 'progress':
      case 'log':
        if (this.#events.live) this.#events.tell(spec);
        return this.#give(undefined);
      case 'all':
      case 'allSettled':
      case 'race':
        return this.#fork(fiber, spec);
      case 'scope':
        nestBranch(this, fiber, 'scope', spec.steps[Symbol.iterator](), fiber.scope.below(spec.id));
        return false;
      case 'elicit':
      case 'elicitUrl':
      case 'sample':
      case 'roots':
      case 'checkpoint':
        if (!fiber.isEnding) return this.#await(fiber, spec);
        return this.#give(
          new SagaError(`'${spec.id}' cannot be asked while its branch is being ended.`),
          'throw',
        );
      case 'step':
        if ((spec.undo !== undefined || spec.once) && !this.#events.declaresForks)
          return this.#undeclared(spec.id);
        return this.#await(fiber, spec);
      case 'call':
      case 'now':
      case 'random':
      case 'uuid':
      case 'info':
      case 'sleep':
      case 'poll':
      case 'stepKey':
        return this.#await(fiber, spec);
      case 'patched':
        return this.#give(this.#marks.patched(spec.id));
      case 'pivot':
        if (!this.#events.declaresForks) return this.#undeclared(spec.id);
        return this.#give(this.#marks.pivot(fiber.scope.path(spec.id)));
      case 'compensate':
        if (!this.#events.declaresForks) return this.#undeclared(spec.id);
        return this.#give(this.#marks.register(fiber.scope.path(spec.id), spec));
      case 'abort':
        return this.#leave(fiber, { error: new SagaAborted(spec.reason) });
      case 'continueAs':
        return this.#leave(fiber, { next: { program: spec.program, args: spec.args } });
    }
  }

  #give(value: unknown, how: Resumption = 'next'): true {
    this.#fibers.how = how;
    this.#fibers.value = value;
    return true;
  }

  #undeclared(id: string): true {
    const error = new TypeError(
      `'${id}' compensates, pivots or runs once, and its saga does not say what an older token may do. Declare ` +
        `forks: 'refuse' (the host then needs a guard), or forks: 'accept' where going back does no harm.`,
    );
    return this.#give(error, 'throw');
  }

  /** Ends the saga from within. */
  #leave(fiber: Fiber, ending: Ending): boolean {
    // Where it is being ended already, or is undone, there is nothing left to end.
    if (fiber.isEnding || this.#root === undefined) return this.#give(undefined);
    if ('next' in ending && this.#stack.undos.length > 0) {
      const advice = 'pivot before it, or undo it in this saga.';
      return this.#give(
        new TypeError(`continueAs() would lose what is on the undo stack: ${advice}`),
        'throw',
      );
    }
    this.#ending = ending;
    closeBranch(this, this.#root);
    return false;
  }

  #await(fiber: Fiber, spec: JournalledSpec): boolean {
    const key = spec.kind === 'step' ? spec.key : undefined;
    const path = fiber.scope.path(key === undefined ? spec.id : `${spec.id}(${key})`);
    const inline = spec.kind === 'now' || spec.kind === 'info';
    // The next entry may be taken at once only if no other branch has to run before it, as none had when it was
    // recorded; what is read at once was recorded at once.
    if ((inline || this.#fibers.idle) && this.#journal.isAbout(path)) {
      const task = newTask(fiber, spec, path);
      if (this.#consume(task)) {
        if (spec.kind !== 'call' || this.#fibers.how !== 'next') return true;
        this.#call(fiber, spec, path, this.#fibers.value);
      } else {
        this.#wait(task);
      }
      return false;
    }
    const task = newTask(fiber, spec, path);
    if (!inline) {
      this.#wait(task);
      return false;
    }
    if (this.#journal.replaying) throw mismatchOf(this.#journal, [task]);
    const text = encode(spec.kind === 'now' ? this.#events.runtime.now() : this.#events.info());
    const letter = spec.kind === 'now' ? 'n' : 'i';
    this.#journal.append({ letter, path, fingerprint: task.fingerprint, text });
    return this.#give(decode(text));
  }

  #wait(task: Task): void {
    const { spec } = task;
    if (spec.kind === 'step' && spec.input !== undefined) task.input = JSON.stringify(spec.input);
    task.fiber.waiting = task;
    this.pending.set(task.path, task);
  }

  /** Takes the next entry for `task`; false when the task goes on waiting. */
  #consume(task: Task): boolean {
    const journal = this.#journal;
    const { letter } = journal;
    if (journal.fingerprint !== task.fingerprint || !(lettersOf[task.spec.kind] as string).includes(letter)) {
      throw mismatchOf(this.#journal, [task]);
    }
    if (letter === 'w' && !task.discarded) throw mismatchOf(this.#journal, [task]);
    const value = journal.next();
    if (letter === 't') {
      tried(task, value);
      return false;
    }
    this.#outcome(task, letter, value, this.#marks.bound(task, letter));
    return true;
  }

  #outcome(task: Task, letter: string, value: unknown, bound: BoundUndo | undefined): void {
    const { spec, path } = task;
    if (spec.kind === 'step') {
      if (letter === 's' || letter === 'z' || letter === 'v') this.#stack.done(path, spec, value, bound);
      else if (letter === 'g') this.#stack.unknown(path, spec);
    }
    const given = outcomeOf(spec, path, letter, value);
    this.#give(given.value, given.failed ? 'throw' : 'next');
  }

  #fork(fiber: Fiber, spec: GroupSpec): boolean {
    for (const { steps } of spec.branches) this.#fibers.taken(steps);
    const group = forkBranches(this, fiber, spec);
    return group.open === 0 && this.#give(group.result());
  }

  /** A fiber has ended; with the body, the saga has, or is undone. */
  ended(fiber: Fiber, end: FiberEnd): void {
    if (fiber.group !== undefined) {
      endBranch(this, fiber, fiber.group, end);
      return;
    }
    fiber.ended = true;
    if (fiber !== this.#root) {
      this.end = this.#ending;
      return;
    }
    const ending = this.#ending ?? ('error' in end ? end : undefined);
    if (ending === undefined || 'next' in ending) this.end = ending ?? end;
    else this.#undo(ending.error);
  }

  #undo(error: unknown): void {
    this.#ending = { error };
    const fiber = new Fiber(undoAll(this.#stack.undos, this.report), new Scope(''));
    fiber.serverOnly = true;
    this.resume(fiber, 'next', undefined);
  }

  /** Withdraws a task that waits for the client or has not been started; false when it has to be awaited. */
  withdraw(task: Task): boolean {
    if (!isAskedOfClient(task.spec.kind)) {
      task.discarded = true;
      task.running?.abort(new SagaError('A sibling of this step failed.'));
      const journal = this.#journal;
      if (journal.replaying) {
        // Had it not been started then, the journal says so next: at once, as it was recorded at once.
        if (journal.letter !== 'w' || !journal.isAbout(task.path)) return false;
        this.#consume(task);
      } else if (task.running === undefined) {
        journal.append({ letter: 'w', path: task.path, fingerprint: task.fingerprint });
      } else {
        return false;
      }
    }
    this.pending.delete(task.path);
    task.fiber.waiting = undefined;
    return true;
  }

  #call(fiber: Fiber, spec: Extract<CommandSpec, { kind: 'call' }>, path: string, input: unknown): void {
    try {
      const body = this.#fibers.noting(() => startBody(spec.id, spec.body, input));
      nestBranch(this, fiber, 'call', body, new Scope(`${path}/`));
    } catch (error) {
      this.resume(fiber, 'throw', error);
    }
  }
}
