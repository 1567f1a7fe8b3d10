import {
  effectOf,
  fingerprintOf,
  isAskedOfClient,
  onlyReads,
  outcomeOf,
  type EffectSpec,
} from '../effects/effect-of.ts';
import { pathOfTurn, undoMark } from '../values/path.ts';
import { decode, encode } from '../values/codec.ts';
import type { Ending } from '../undo/ending.ts';
import { SagaError } from '../values/errors.ts';
import { newTask, noteAttempts, type Fiber, type Task } from './fiber.ts';
import type { Journal, TaskEntry } from '../journal/journal.ts';
import { assertShape, isDone, type EntryType } from '../journal/entry-types.ts';
import type { Markers } from './markers.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import type { Scheduler } from './scheduler.ts';
import type { SealedUndo, UndoStack } from '../undo/undo-stack.ts';

export interface TaskHost {
  readonly journal: Journal;
  readonly fibers: Scheduler;
  readonly markers: Markers;
  readonly stack: UndoStack;
  readonly ending: Ending;
}

/** Commands that wait for an outcome, which is read from the journal or recorded. */
export class Tasks {
  /** Waiting tasks by path, in the order of issue. */
  readonly pending: Map<string, Task> = new Map();
  /**
   * Waiting tasks that do not run. Kept apart: the end of a task must not scan all running tasks.
   */
  readonly idle: Set<Task> = new Set();
  readonly #host: TaskHost;
  readonly #journal: Journal;
  readonly #fibers: Scheduler;
  /** Number of outcomes that the body has received, without values read or withdrawn at once. */
  #outcomes = 0;

  constructor(host: TaskHost) {
    this.#host = host;
    this.#journal = host.journal;
    this.#fibers = host.fibers;
  }

  wait(task: Task): void {
    const { spec } = task;
    if (spec.kind === 'step') {
      if (spec.input !== undefined) task.input = JSON.stringify(spec.input);
      task.retry = this.#host.ending.current?.undo.policy.retry;
    }
    task.issuedAfter = this.#outcomes;
    task.fiber.waiting = task;
    this.pending.set(task.path, task);
    this.idle.add(task);
  }

  remove(task: Task): void {
    this.#forget(task);
    task.fiber.waiting = undefined;
  }

  #forget(task: Task): void {
    this.pending.delete(task.path);
    this.idle.delete(task);
  }

  /**
   * Fast path for the plain outcome of a command, the most frequent entry. Returns `false` if the
   * entry needs a task.
   */
  takePlain(fiber: Fiber, spec: EffectSpec, path: string): boolean {
    const journal = this.#journal;
    const { type } = journal;
    if (spec.kind === 'step') {
      // A named undo may have a separate entry.
      const isNamed = spec.undo !== undefined && 'bind' in spec.undo.work;
      if (type !== 'done' || isNamed || fiber.isEnding) return false;
    } else if (spec.kind === 'elicit') {
      if (type !== 'accepted' || spec.asOutcome) return false;
    } else if (spec.kind !== 'call' || type !== 'called') {
      return false;
    }
    if (journal.fingerprint !== fingerprintOf(spec)) return false;
    const value = journal.next();
    this.#outcomes += 1;
    this.#fibers.how = 'next';
    this.#fibers.value = value;
    if (spec.kind !== 'step') return true;
    const isSealed = journal.type === 'namedUndo';
    if (!isSealed && spec.undo === undefined) return true;
    const copy = journal.copierOf(value, 'server');
    // Sealed by older code with a named compensator; the current code has none.
    const sealed = isSealed
      ? this.#host.markers.bound(newTask(fiber, spec, path), type, value)
      : undefined;
    this.#host.stack.done(path, spec, copy, sealed);
    return true;
  }

  /**
   * Takes the next entry for `task`, and passes the outcome to the scheduler; `false` if the task
   * continues to wait.
   */
  consume(task: Task): boolean {
    const journal = this.#journal;
    const type = journal.type as EntryType;
    const { fingerprint, spec } = task;
    const fits = journal.fingerprint === fingerprint;
    // A step with `keep: false` records no result.
    const isKept = spec.kind === 'step' && !spec.keep && (type === 'done' || type === 'compressed');
    if (!fits || isKept || !effectOf(spec).entries.includes(type)) {
      throw mismatchOf(journal, [task]);
    }
    if ((type === 'withdrawn' || type === 'stopped') && !task.discarded)
      throw mismatchOf(journal, [task]);
    // Answers to a question of an ended branch are never recorded.
    if (task.discarded && type !== 'withdrawn' && isAskedOfClient(spec.kind))
      throw mismatchOf(journal, [task]);
    const value = journal.next();
    assertShape(type, value);
    this.#count(task, type);
    if (type === 'retry') {
      noteAttempts(task, value);
      return false;
    }
    if (task.spec.kind === 'step') {
      const copy = journal.copierOf(value, type === 'compressed' ? 'client' : 'server');
      this.#effect(task, type, copy, this.#host.markers.bound(task, type, value));
      if (journal.type === 'interrupted') {
        this.#host.stack.interrupted(journal.path);
        journal.next();
      }
    }
    this.#outcome(task, type, value);
    return true;
  }

  /**
   * Records the outcome of a task, and passes the outcome to the scheduler; `false` if the task
   * continues to wait.
   */
  record(task: Task, entry: TaskEntry, value: unknown): boolean {
    const sealed = this.#host.markers.bind(task, entry.type, value);
    this.#count(task, entry.type);
    // Before recording, which may fail: the step was done and can be undone.
    this.#effect(task, entry.type, copierOf(entry), sealed);
    if (entry.type !== 'retry') this.#forget(task);
    this.#add(task, entry, sealed);
    if (entry.type === 'retry') {
      // The branch of the retried task has ended meanwhile.
      return task.discarded && this.record(task, { type: 'withdrawn' }, undefined);
    }
    this.#outcome(task, entry.type, value);
    return true;
  }

  /**
   * Counts an outcome that is not read or withdrawn at once. A question is withdrawn after its
   * answer by the server was aborted.
   */
  #count({ spec }: Task, type: EntryType): void {
    if (type === 'withdrawn' ? isAskedOfClient(spec.kind) : type !== 'time' && type !== 'info')
      this.#outcomes += 1;
  }

  /**
   * Adds the entry of a task, even to a full journal: the effect has happened, and undoing needs
   * the entry.
   */
  #add(task: Task, entry: TaskEntry, sealed: ReturnType<Markers['bind']>): void {
    const { path, fingerprint } = task;
    this.#journal.add({ path, fingerprint, ...entry });
    if (sealed !== undefined)
      this.#journal.add({ type: 'namedUndo', path, fingerprint, text: sealed.text });
    const turn = interruptedAt(task, entry.type);
    if (turn !== undefined) this.#journal.add({ type: 'interrupted', path: turn, fingerprint: 0 });
  }

  /** Records a value that a task reads at once, and passes the value to the scheduler. */
  read(task: Task, type: EntryType, value: unknown): void {
    const { path, fingerprint } = task;
    const text = encode(value);
    this.#journal.append({ type, path, fingerprint, text });
    this.#outcome(task, type, decode(text));
  }

  /** Withdraws an unstarted task or a question. Returns `false` if the task must be awaited. */
  withdraw(task: Task): boolean {
    const isQuestion = isAskedOfClient(task.spec.kind);
    if (isQuestion ? this.#runsHere(task) : !this.#isUnstarted(task)) return false;
    this.remove(task);
    return true;
  }

  /**
   * Aborts a question answered by the server. A question to the client is withdrawn without an
   * entry.
   */
  #runsHere(task: Task): boolean {
    const runs = this.#journal.replaying
      ? this.#journal.isAhead(task.path)
      : task.running !== undefined;
    if (runs) this.#discard(task);
    return runs;
  }

  /** Aborts a task other than a question, and records an unstarted task as withdrawn. */
  #isUnstarted(task: Task): boolean {
    this.#discard(task);
    this.#host.markers.discards += 1;
    const journal = this.#journal;
    if (!journal.replaying) {
      if (task.running !== undefined) return false;
      this.record(task, { type: 'withdrawn' }, undefined);
      return true;
    }
    // The next entry withdraws the task if the first run had not started it. A started task is
    // awaited: its outcome (also `stopped`) comes in recorded order, since other branches may have
    // run before.
    if (journal.type === 'withdrawn' && journal.isAbout(task.path)) return this.consume(task);
    // A task cannot have started if one outcome led to the command and to the end of the branch.
    if (task.issuedAfter === this.#outcomes) throw mismatchOf(journal, [task]);
    return false;
  }

  #discard(task: Task): void {
    task.discarded = true;
    task.running?.abort(new SagaError('A sibling of this step failed.'));
  }

  /** Notes the effect of a task whose body has stopped. */
  outlived(task: Task, entry: TaskEntry, value: unknown, isRecorded: boolean): void {
    const { type } = entry;
    const sealed = this.#host.markers.bind(task, type, value);
    if (isRecorded && task.spec.kind === 'step') this.#add(task, entry, sealed);
    if (type === 'retry') return;
    this.#forget(task);
    this.#effect(task, type, copierOf(entry), sealed);
  }

  /** Reads the entries of tasks that ended after the body was halted. */
  #takeOutlived(): void {
    const journal = this.#journal;
    for (;;) {
      const task = journal.replaying ? this.pending.get(journal.path) : undefined;
      if (task === undefined || task.path.startsWith(undoMark)) return;
      if (this.consume(task)) this.#forget(task);
    }
  }

  /** Stops all waiting tasks. */
  halt(): void {
    this.#takeOutlived();
    for (const task of this.pending.values()) {
      if (task.unknown) this.#effect(task, 'unknown', () => undefined, undefined);
    }
    this.pending.clear();
    this.idle.clear();
  }

  /** Adds the undo of a step that ran, or may have run, to the undo stack. */
  #effect(task: Task, type: EntryType, copy: () => unknown, sealed: SealedUndo | undefined): void {
    const { spec, path, unknown } = task;
    if (spec.kind !== 'step') return;
    if (isDone(type)) {
      this.#host.stack.done(path, spec, copy, sealed);
      if (!spec.reads) endingFiber(task.fiber)?.lastSteps.push(path);
    } else if (type === 'unknown' || (type === 'withdrawn' && unknown)) {
      this.#host.stack.unknown(path, spec);
    }
    const turn = interruptedAt(task, type);
    if (turn !== undefined) this.#host.stack.interrupted(turn);
  }

  #outcome({ spec, path, fiber }: Task, type: EntryType, value: unknown): void {
    const given = outcomeOf(spec, path, type, value);
    this.#fibers.how = given.failed ? 'throw' : 'next';
    const { revive } = effectOf(spec);
    this.#fibers.value =
      revive === undefined ? given.value : revive(value, fiber.scope, this.#journal);
  }
}

function copierOf({ text }: TaskEntry): () => unknown {
  return () => (text === undefined ? undefined : decode(text));
}

/**
 * Path of the interrupted turn that may have executed a step and later steps, if the step now ends
 * otherwise. A read that fails has no effect itself, but effects may have followed it.
 */
function interruptedAt(
  { interruptedTurn, discarded, spec }: Task,
  type: EntryType,
): string | undefined {
  if (interruptedTurn === undefined || type === 'retry') return undefined;
  const hasFailed = type === 'unknown' || (type === 'failed' && onlyReads(spec));
  return hasFailed || discarded ? pathOfTurn(interruptedTurn) : undefined;
}

/** Innermost fiber around a step that was told to end. */
function endingFiber(fiber: Fiber | undefined): Fiber | undefined {
  return fiber === undefined || fiber.toldToEnd ? fiber : endingFiber(fiber.group?.parent);
}
