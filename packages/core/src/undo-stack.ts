import type { CompensateSpec, StepSpec } from './command-spec.ts';
import type { SkippedEntry } from './journal.ts';
import type { Runtime } from './program.ts';
import { defaultUndoRetry, undoMark, type BoundUndo, type Undo } from './undo.ts';

/** What a saga would undo if it ended now, in the order in which it happened. (E3) */
export class UndoStack {
  #undos: Undo[] = [];

  /** What is on it. */
  get undos(): readonly Undo[] {
    return this.#undos;
  }

  /** A step was done: its result is known. */
  done(path: string, spec: StepSpec, result: unknown, bound: BoundUndo | undefined): void {
    const { undo } = spec;
    if (undo?.known === undefined) return;
    const work =
      'bind' in undo.known
        ? bound === undefined
          ? undefined
          : ({ kind: 'named', bound } as const)
        : undo.known;
    this.#undos.push({ ...this.#common(path, spec), work, facts: { result, input: spec.input } });
  }

  /** A step failed, and its effect may have happened. (E4) */
  unknown(path: string, spec: StepSpec): void {
    if (spec.undo === undefined) return;
    this.#undos.push({ ...this.#common(path, spec), work: spec.undo.unknown, facts: { input: spec.input } });
  }

  /** The author registered an undo. */
  add(path: string, spec: CompensateSpec, work: Undo['work']): void {
    const { label, retry, timeout } = spec;
    this.#undos.push({ path, key: undefined, label, work, facts: {}, retry, timeout });
  }

  /** What came before is never undone. (E5) */
  pivot(): void {
    this.#undos = [];
  }

  /**
   * Entries that the code no longer knows: what has a named compensator can be undone, other effects are residue.
   */
  skipped(entries: readonly SkippedEntry[], runtime: Runtime): void {
    for (const { letter, path, value } of entries) {
      if (path.startsWith(undoMark)) {
        // Undone already, before the code changed once more.
        if (letter === 'v') this.#undos = this.#undos.filter((undo) => undoMark + undo.path !== path);
        continue;
      }
      if (letter === 'h') this.pivot();
      else if (letter === 's' || letter === 'z' || letter === 'v' || letter === 'g')
        this.#foreign(path, undefined);
      else if (letter === 'b') {
        this.#undos = this.#undos.filter((undo) => undo.path !== path);
        this.#foreign(
          path,
          toBoundUndo(value, (name) => runtime.compensator(name)?.run),
        );
      }
    }
  }

  #foreign(path: string, bound: BoundUndo | undefined): void {
    const work = bound === undefined ? undefined : ({ kind: 'named', bound } as const);
    const rest = { key: undefined, label: undefined, facts: {}, retry: defaultUndoRetry, timeout: undefined };
    this.#undos.push({ path, work, ...rest });
  }

  #common(path: string, spec: StepSpec): Pick<Undo, 'path' | 'key' | 'label' | 'retry' | 'timeout'> {
    const { label, retry = defaultUndoRetry, timeout } = spec.undo ?? {};
    return { path, key: spec.key, label, retry, timeout };
  }
}

/** A named undo as the journal keeps it. */
export function toBoundUndo(
  value: unknown,
  runOf: (name: string) => BoundUndo['run'] | undefined,
): BoundUndo | undefined {
  if (!Array.isArray(value)) return undefined;
  const [name, args] = value as [string, unknown];
  const run = runOf(name);
  return run === undefined ? undefined : { name, args, run };
}
