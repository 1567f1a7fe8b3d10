import {
  effectOf,
  fingerprintOf,
  isAskedOfClient,
  isFingerprintOf,
  outcomeOf,
  type EffectSpec,
} from '../effects/effect-of.ts';
import { pathOfTurn, undoMark } from '../values/path.ts';
import { decode, encode } from '../values/codec.ts';
import type { Ending } from '../undo/ending.ts';
import { SagaError } from '../values/errors.ts';
import { newTask, tried, type Fiber, type Task } from './fiber.ts';
import type { Journal, TaskEntry } from '../journal/journal.ts';
import { isDone, type EntryType } from '../journal/entry-types.ts';
import type { Marks } from './markers.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import type { Scheduler } from './scheduler.ts';
import type { SealedUndo, UndoStack } from '../undo/undo-stack.ts';

/** What tasks need of the execution they belong to. */
export interface TaskHost {
  readonly journal: Journal;
  readonly fibers: Scheduler;
  readonly marks: Marks;
  readonly stack: UndoStack;
  readonly ending: Ending;
}

/** The commands that wait for an outcome, and how they come to it: from the journal, or by being recorded in it. */
export class Tasks {
  /** By path, in the order they were asked. */
  readonly pending: Map<string, Task> = new Map();
  /** Those that do not run: the end of one that ran does not look at all others that run. */
  readonly idle: Set<Task> = new Set();

  readonly #host: TaskHost;
  readonly #journal: Journal;
  readonly #fibers: Scheduler;
  /** Number of outcomes that the body has received, without what is read or withdrawn at once. */
  #outcomes = 0;

  constructor(host: TaskHost) {
    this.#host = host;
    this.#journal = host.journal;
    this.#fibers = host.fibers;
  }

  /** Lets a task wait. */
  wait(task: Task): void {
    const { spec } = task;
    if (spec.kind === 'step') {
      if (spec.input !== undefined) task.input = JSON.stringify(spec.input);
      task.retry = this.#host.ending.current?.undo.retry;
    }
    task.issuedAfter = this.#outcomes;
    task.fiber.waiting = task;
    this.pending.set(task.path, task);
    this.idle.add(task);
  }

  /** Removes a task that waits no longer. */
  remove(task: Task): void {
    this.#forget(task);
    task.fiber.waiting = undefined;
  }

  #forget(task: Task): void {
    this.pending.delete(task.path);
    this.idle.delete(task);
  }

  /**
   * Takes the next entry where it is the plain outcome of a command that nothing else hangs on, which most of a journal
   * is: that spares the task. False where there is more to it.
   */
  takePlain(fiber: Fiber, spec: EffectSpec, path: string): boolean {
    const journal = this.#journal;
    const { type } = journal;
    if (spec.kind === 'step') {
      // A named undo may have an entry of its own.
      const isNamed = spec.undo?.known !== undefined && 'bind' in spec.undo.known;
      if (type !== 'done' || isNamed || fiber.isEnding) return false;
    } else if (spec.kind !== 'elicit' || type !== 'accepted' || spec.asOutcome) {
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
    // Sealed by code that named a compensator for it; this code does not.
    const sealed = isSealed ? this.#host.marks.bound(newTask(fiber, spec, path), type, value) : undefined;
    this.#host.stack.done(path, spec, copy, sealed);
    return true;
  }

  /** Takes the next entry for `task`, and has its outcome in the scheduler; false when the task goes on waiting. */
  consume(task: Task): boolean {
    const journal = this.#journal;
    const type = journal.type as EntryType;
    const { fingerprint, spec } = task;
    const fits = isFingerprintOf(journal.fingerprint, fingerprint, spec);
    // A step with `keep: false` records no result.
    const isKept = spec.kind === 'step' && !spec.keep && (type === 'done' || type === 'compressed');
    if (!fits || isKept || !effectOf(spec).entries.includes(type)) {
      throw mismatchOf(journal, [task]);
    }
    if ((type === 'withdrawn' || type === 'stopped') && !task.discarded) throw mismatchOf(journal, [task]);
    // No answer to a question of an ended branch is recorded.
    if (task.discarded && type !== 'withdrawn' && isAskedOfClient(spec.kind))
      throw mismatchOf(journal, [task]);
    const value = journal.next();
    if (type !== 'withdrawn' && type !== 'time' && type !== 'info') this.#outcomes += 1;
    if (type === 'retry') {
      tried(task, value);
      return false;
    }
    if (task.spec.kind === 'step') {
      const copy = journal.copierOf(value, type === 'compressed' ? 'client' : 'server');
      this.#effect(task, type, copy, this.#host.marks.bound(task, type, value));
      if (journal.type === 'interrupted') {
        this.#host.stack.interrupted(journal.path);
        journal.next();
      }
    }
    this.#outcome(task, type, value);
    return true;
  }

  /** Records what became of a task, and has its outcome in the scheduler; false when it goes on waiting. */
  record(task: Task, entry: TaskEntry, value: unknown): boolean {
    const sealed = this.#host.marks.bind(task, entry.type, value);
    if (entry.type !== 'withdrawn') this.#outcomes += 1;
    // First of all: whatever goes wrong in recording it, it was done, and can be undone.
    this.#effect(task, entry.type, copierOf(entry), sealed);
    if (entry.type !== 'retry') this.#forget(task);
    this.#add(task, entry, sealed);
    if (entry.type === 'retry') {
      // It was to be tried again, but its branch has been ended meanwhile.
      return task.discarded && this.record(task, { type: 'withdrawn' }, undefined);
    }
    this.#outcome(task, entry.type, value);
    return true;
  }

  /** Adds the entry of a task, even to a full journal: the effect has happened, and undoing needs the entry. */
  #add(task: Task, entry: TaskEntry, sealed: ReturnType<Marks['bind']>): void {
    const { path, fingerprint } = task;
    this.#journal.add({ ...entry, path, fingerprint });
    if (sealed !== undefined) this.#journal.add({ type: 'namedUndo', path, fingerprint, text: sealed.text });
    const turn = interruptedAt(task, entry.type);
    if (turn !== undefined) this.#journal.add({ type: 'interrupted', path: turn, fingerprint: 0 });
  }

  /** Records what a task reads at once, and has it in the scheduler. */
  read(task: Task, type: EntryType, value: unknown): void {
    const { path, fingerprint } = task;
    const text = encode(value);
    this.#journal.append({ type, path, fingerprint, text });
    this.#outcome(task, type, decode(text));
  }

  /** Withdraws a task that waits for the client or has not been started; false when it has to be awaited. */
  withdraw(task: Task): boolean {
    const isQuestion = isAskedOfClient(task.spec.kind);
    if (isQuestion ? this.#runsHere(task) : !this.#isUnstarted(task)) return false;
    this.remove(task);
    return true;
  }

  /** Aborts a question that something here answers. Where nobody does, it is withdrawn without an entry. */
  #runsHere(task: Task): boolean {
    const journal = this.#journal;
    const runs = journal.replaying ? journal.isAhead(task.path) : task.running !== undefined;
    if (runs) this.#discard(task);
    return runs;
  }

  /** Aborts what is no question, and records it as withdrawn where it has not been started. */
  #isUnstarted(task: Task): boolean {
    this.#discard(task);
    this.#host.marks.discards += 1;
    const journal = this.#journal;
    if (journal.replaying) {
      // Had it not been started then, the journal says so next: at once, as it was recorded at once. What had been is
      // awaited: whatever became of it then (`stopped` too) comes in its order, since other branches may have run before.
      if (journal.type !== 'withdrawn' || !journal.isAbout(task.path)) {
        // It cannot have been started: one outcome led to the command and to the end of its branch.
        if (task.issuedAfter === this.#outcomes) throw mismatchOf(journal, [task]);
        return false;
      }
      this.consume(task);
    } else if (task.running === undefined) {
      this.record(task, { type: 'withdrawn' }, undefined);
    } else {
      return false;
    }
    return true;
  }

  #discard(task: Task): void {
    task.discarded = true;
    task.running?.abort(new SagaError('A sibling of this step failed.'));
  }

  /** Notes what a task did whose body cannot be told of it any more. */
  outlived(task: Task, entry: TaskEntry, value: unknown, isRecorded: boolean): void {
    const { type } = entry;
    const sealed = this.#host.marks.bind(task, type, value);
    if (isRecorded && task.spec.kind === 'step') this.#add(task, entry, sealed);
    if (type === 'retry') return;
    this.#forget(task);
    this.#effect(task, type, copierOf(entry), sealed);
  }

  /** Takes off what the journal says of tasks after their body was halted. */
  #takeOutlived(): void {
    const journal = this.#journal;
    for (;;) {
      const task = journal.replaying ? this.pending.get(journal.path) : undefined;
      if (task === undefined || task.path.startsWith(undoMark)) return;
      if (this.consume(task)) this.#forget(task);
    }
  }

  /** Stops all that waits where it stands. */
  halt(): void {
    this.#takeOutlived();
    for (const task of this.pending.values()) {
      if (task.unknown) this.#effect(task, 'unknown', () => undefined, undefined);
    }
    this.pending.clear();
    this.idle.clear();
  }

  /** What a step did, or may have done, goes on the undo stack. */
  #effect(task: Task, type: EntryType, copy: () => unknown, sealed: SealedUndo | undefined): void {
    const { spec, path, unknown } = task;
    if (spec.kind !== 'step') return;
    if (isDone(type)) {
      this.#host.stack.done(path, spec, copy, sealed);
      endingFiber(task.fiber)?.lastSteps.push(path);
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
    this.#fibers.value = revive === undefined ? given.value : revive(value, fiber.scope, this.#journal);
  }
}

/** Makes copies of the value of a new entry. */
function copierOf({ text }: TaskEntry): () => unknown {
  return () => (text === undefined ? undefined : decode(text));
}

/** Path of the interrupted turn that may have executed a step, and more behind it, although the step ends otherwise now. */
function interruptedAt({ interruptedTurn, discarded }: Task, type: EntryType): string | undefined {
  if (interruptedTurn === undefined || type === 'retry') return undefined;
  return type === 'unknown' || discarded ? pathOfTurn(interruptedTurn) : undefined;
}

/** The innermost fiber around a step that was told to end. */
function endingFiber(fiber: Fiber | undefined): Fiber | undefined {
  return fiber === undefined || fiber.toldToEnd ? fiber : endingFiber(fiber.group?.parent);
}
