import { AuthoringError } from '../values/errors.ts';
import { encode } from '../values/codec.ts';
import type { EffectSpec } from '../effects/effect-of.ts';
import type { StepUndo } from '../model/command.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoMark } from '../values/path.ts';
import type { Task } from './fiber.ts';
import type { Journal } from '../journal/journal.ts';
import { entryTypes, isDone, type EntryType } from '../journal/entry-types.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import { toBoundUndo, type SealedUndo, type UndoStack } from '../undo/undo-stack.ts';
import type { Uncommitted } from './uncommitted.ts';
import type { Phase } from '../undo/ending.ts';

/** What the markers of a body read and write. */
interface MarkersOptions {
  readonly journal: Journal;
  readonly stack: UndoStack;
  readonly runtime: Runtime;
  readonly uncommitted: Uncommitted;
  readonly phase: Phase;
}

/**
 * Entries that mark the progress of a body, made and replayed at once: patches and pivots. Also
 * binds the named undos of steps.
 */
export class Markers {
  readonly #journal: Journal;
  readonly #stack: UndoStack;
  readonly #runtime: Runtime;
  readonly #uncommitted: Uncommitted;
  readonly #phase: Phase;
  /** Number of steps, polls, and sleeps that were withdrawn or aborted. */
  discards = 0;
  readonly #patches = new Map<string, boolean>();

  constructor(parts: MarkersOptions) {
    this.#journal = parts.journal;
    this.#stack = parts.stack;
    this.#runtime = parts.runtime;
    this.#uncommitted = parts.uncommitted;
    this.#phase = parts.phase;
  }

  /**
   * Decides once for the life of the saga if a change of the code applies. A live body that gets
   * here for the first time applies the change, and records that it did. During replay only the
   * record counts, so a saga that passed this place without the change never applies it later: a
   * pending question or wait behind this place has been passed, too.
   */
  patched(id: string, enabled: boolean): boolean {
    let decided = this.#patches.get(id);
    if (decided === undefined) {
      const path = `${undoMark}patched:${id}`;
      // The body was halted here: the limit was met before the marker could be recorded.
      if (enabled && this.#journal.isHaltedHere) throw mismatchOf(this.#journal, []);
      // If this turn was interrupted, its first run may have passed this place on older code.
      const isFirstPass = !this.#phase.isReplaying && this.#runtime.turn.isInterrupted !== true;
      const isNew = enabled && isFirstPass;
      decided = isNew || this.#journal.isAbout(path);
      if (isNew) this.#uncommitted.note('chance');
      if (decided) this.#mark('patched', path);
      this.#patches.set(id, decided);
    }
    return decided;
  }

  pivot(path: string): void {
    if (!this.#journal.replaying) this.#uncommitted.note('pivot');
    this.#mark('pivoted', path, () => this.#stack.pivot());
  }

  /**
   * Makes the arguments of a named compensator when the step is done, and their text for the
   * journal.
   */
  bind(
    { spec, path }: Task,
    type: EntryType,
    result: unknown,
  ): (SealedUndo & { text: string }) | undefined {
    const named = namedUndo(spec, type);
    if (named === undefined || spec.kind !== 'step') return undefined;
    try {
      const { input } = spec;
      const bound = named.bind({ outcome: 'done', result, input } as never);
      return { bound, text: encode([bound.name, bound.args]) };
    } catch (error) {
      // The step is done and cannot be undone: if the saga is undone, the step is uncompensated.
      this.#runtime.observer.observe({ type: 'failed', kind: 'compensate', path, error });
      return { bound: undefined, text: encode(null) };
    }
  }

  bound(task: Task, type: EntryType, result: unknown): SealedUndo | undefined {
    if (task.spec.kind !== 'step') return undefined;
    if (this.#journal.type === 'namedUndo' && this.#journal.isAbout(task.path)) {
      const run = namedUndo(task.spec, type)?.run;
      const bound = toBoundUndo(
        this.#journal.next(),
        (name) => run ?? this.#runtime.effects.compensator(name)?.run,
      );
      return { bound };
    }
    // The step was done before the code named a compensator.
    return this.bind(task, type, result);
  }

  #mark(type: 'patched' | 'pivoted', path: string, passed?: () => void): void {
    const journal = this.#journal;
    const [, , kind] = entryTypes[type];
    const recorded = journal.type === type && journal.isAbout(path);
    if (recorded) journal.next();
    else if (journal.replaying) throw mismatchOf(journal, [{ kind, path, fingerprint: 0 }]);
    if (!recorded) {
      // Before the marker takes effect: a pivot of changed code must not clear recorded undos.
      journal.assertThawed(kind, path, 0);
      // The marker may exceed the limit by one entry: the body continues as in replay.
      journal.assertRoom(0);
    }
    passed?.();
    if (recorded) return;
    journal.add({ type, path, fingerprint: 0 });
    this.#runtime.observer.observe({ type: 'passed', kind, path });
  }
}

function namedUndo(
  spec: EffectSpec,
  type: EntryType,
): Extract<StepUndo['work'], { bind: unknown }> | undefined {
  if (spec.kind !== 'step' || !isDone(type)) return undefined;
  const work = spec.undo?.work;
  return work !== undefined && 'bind' in work ? work : undefined;
}

/** Error for an effect that needs a store, on a host without one. */
export function missingStore(id: string, isOnce: boolean = false): AuthoringError {
  return new AuthoringError(
    isOnce
      ? `'${id}' runs once, which only a store can know. Set \`store\` of the host.`
      : `'${id}' is a pivot or can be undone, and its host has no \`store\`: a client could use an older ` +
          "token again, and repeat or undo it. Set `store` of the host, or declare reuse: 'ok' if that does no harm.",
    { anchor: 'missing-store' },
  );
}

/** Error for a command that asks or waits in a saga that must not. */
export function cannotSuspend(what: string): AuthoringError {
  return new AuthoringError(
    `${what} asks or waits, but its saga has \`suspends: false\`. Remove the option: the tool then lists the arguments with which a client continues a call.`,
  );
}
