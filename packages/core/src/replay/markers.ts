import { present } from '../values/json.ts';
import { AuthoringError } from '../values/errors.ts';
import { encode } from '../values/codec.ts';
import type { EffectSpec } from '../effects/effect-of.ts';
import type { CompensateSpec, StepUndo } from '../model/command.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoMark } from '../values/path.ts';
import type { Task } from './fiber.ts';
import type { Journal } from '../journal/journal.ts';
import { entryTypes, isDone, type EntryType } from '../journal/entry-types.ts';
import type { Uncommitted } from '../journal/uncommitted-entries.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import { toBoundUndo, type SealedUndo, type UndoStack } from '../undo/undo-stack.ts';

/** Entries that say where a body stands, made and replayed at once: patches, pivots, registered undos. */
export class Marks {
  readonly #journal: Journal;
  readonly #stack: UndoStack;
  readonly #runtime: Runtime;
  readonly #uncommitted: Uncommitted;
  /** Number of steps, polls, and sleeps that were withdrawn or aborted. */
  discards = 0;
  /** Whether a change of the code was found to hold in this turn. */
  patchedNow = false;
  readonly #patches = new Map<string, boolean>();

  constructor(journal: Journal, stack: UndoStack, runtime: Runtime, uncommitted: Uncommitted) {
    this.#journal = journal;
    this.#stack = stack;
    this.#runtime = runtime;
    this.#uncommitted = uncommitted;
  }

  /**
   * `true` if a change of the code applies here: not to a saga that had come further or is undone, nor before it is enabled.
   * An interrupted run of the turn may have come further on older code.
   */
  patched(id: string, enabled: boolean): boolean {
    let decided = this.#patches.get(id);
    if (decided === undefined) {
      const path = `${undoMark}patched:${id}`;
      // The limit was met before the marker could be recorded: the body was halted here.
      if (enabled && this.#journal.isHaltedHere) throw mismatchOf(this.#journal, []);
      const isFurther = this.#journal.replaying || this.#runtime.isInterrupted === true;
      const isNew = enabled && !isFurther && !this.#journal.isFrozenUndo;
      decided = isNew || this.#journal.isAbout(path);
      if (isNew) {
        this.patchedNow = true;
        this.#uncommitted.note('chance');
        this.#journal.thaw();
      }
      if (decided) this.#mark('patched', path);
      this.#patches.set(id, decided);
    }
    return decided;
  }

  /** The point of no return. (E5) */
  pivot(path: string): void {
    if (!this.#journal.replaying) this.#uncommitted.note('pivot');
    this.#mark('pivoted', path, { passed: () => this.#stack.pivot() });
  }

  /** Registers an undo; what has a name is sealed with its arguments. */
  register(path: string, spec: CompensateSpec): void {
    const { work } = spec;
    const passed = (): void => this.#stack.add(path, spec, work);
    if (work.kind === 'named') {
      this.#mark('namedUndo', path, { text: encode([work.bound.name, work.bound.args]), passed });
    } else {
      passed();
      if (!this.#journal.replaying) this.#runtime.observe({ type: 'passed', kind: 'compensate', path });
    }
  }

  /** Makes the arguments of a named compensator, as soon as its step is done; and their text for the journal. */
  bind({ spec, path }: Task, type: EntryType, result: unknown): (SealedUndo & { text: string }) | undefined {
    const named = namedUndo(spec, type);
    if (named === undefined || spec.kind !== 'step') return undefined;
    try {
      const bound = named.bind({ result: result as never, input: spec.input as never });
      return { bound, text: encode([bound.name, bound.args]) };
    } catch (error) {
      // The step is done and cannot be undone: it is residue, should it come to that.
      this.#runtime.observe({ type: 'failed', kind: 'compensate', path, error });
      return { bound: undefined, text: encode(null) };
    }
  }

  /** The arguments of a named compensator as they were recorded. */
  bound(task: Task, type: EntryType, result: unknown): SealedUndo | undefined {
    if (task.spec.kind !== 'step') return undefined;
    if (this.#journal.type === 'namedUndo' && this.#journal.isAbout(task.path)) {
      const run = namedUndo(task.spec, type)?.run;
      const bound = toBoundUndo(this.#journal.next(), (name) => run ?? this.#runtime.compensator(name)?.run);
      return { bound };
    }
    // It was done before the code named a compensator for it.
    return this.bind(task, type, result);
  }

  #mark(type: EntryType, path: string, made: { text?: string; passed?: () => void } = {}): void {
    const journal = this.#journal;
    const [, , kind] = entryTypes[type];
    const { text, passed } = made;
    const recorded = journal.type === type && journal.isAbout(path);
    if (recorded) journal.next();
    else if (journal.replaying) throw mismatchOf(journal, [{ kind, path, fingerprint: 0 }]);
    if (!recorded) {
      // Before the marker takes effect: a pivot of changed code must not clear recorded undos.
      journal.assertThawed(kind, path, 0);
      // The marker may exceed the limit by one: it takes effect, and the body continues as it does in replay.
      journal.assertRoom(0);
    }
    passed?.();
    if (recorded) return;
    journal.add({ type, path, fingerprint: 0, ...present({ text }) });
    this.#runtime.observe({ type: 'passed', kind, path });
  }
}

function namedUndo(
  spec: EffectSpec,
  type: EntryType,
): Extract<StepUndo['known'], { bind: unknown }> | undefined {
  if (spec.kind !== 'step' || !isDone(type)) return undefined;
  const known = spec.undo?.known;
  return known !== undefined && 'bind' in known ? known : undefined;
}

/** The error for an effect that needs its saga to say what an older token may do. (E7) */
export function undeclaredForks(id: string): AuthoringError {
  return new AuthoringError(
    `'${id}' compensates, pivots or runs once, and its saga does not say what an older token may do. Declare ` +
      `forks: 'refuse' (the host then needs a guard), or forks: 'accept' where going back does no harm.`,
  );
}
