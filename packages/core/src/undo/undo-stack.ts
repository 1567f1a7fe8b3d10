import { decode, encode } from '../values/codec.ts';
import type { CompensateSpec } from '../model/command.ts';
import type { StepSpec } from '../effects/kinds/step.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoKeyMark, undoMark } from '../values/path.ts';
import type { BoundUndo } from '../model/undo.ts';
import { isDone, type EntryType } from '../journal/entry-types.ts';
import type { SkippedEntry } from '../journal/journal.ts';
import type { Phase } from './phase.ts';
import { defaultUndoRetry, toUndone, type Undo, type UndoReport } from './undo-all.ts';

/** A named undo as the journal has it: without `bound` where its compensator is not known any more. */
export interface SealedUndo {
  readonly bound: BoundUndo | undefined;
}

/** What a saga would undo if it ended now, in the order in which it happened. (E3) */
export class UndoStack {
  /** Paths of undos registered without a name since the last pivot. */
  registered: string[] = [];
  readonly #phase: Pick<Phase, 'hasBegunUndoing'>;
  #undos: Undo[] = [];

  constructor(phase: Pick<Phase, 'hasBegunUndoing'>) {
    this.#phase = phase;
  }

  /** `true` if no step is left to undo. */
  get empty(): boolean {
    return this.#undos.every(isUnnamed);
  }

  /** Takes off what is to be undone next: the last one. */
  take(): Undo | undefined {
    return this.#undos.pop();
  }

  /** Puts back what was taken off, and not undone. */
  putBack(undo: Undo): void {
    this.#undos.push(undo);
  }

  /**
   * A step was done.
   *
   * @param copyResult - makes a copy of the result: the body may change what it was given
   */
  done(path: string, spec: StepSpec, copyResult: () => unknown, sealed: SealedUndo | undefined): void {
    const known = spec.undo?.known;
    // What was sealed is undone, even where the code has dropped its compensation since.
    if (this.#phase.hasBegunUndoing || (known === undefined && sealed === undefined)) return;
    const work =
      sealed !== undefined || known === undefined || 'bind' in known ? toWork(sealed?.bound) : known;
    this.#undos.push(undoOf(path, spec, work, copyResult));
  }

  /** A step failed, or was withdrawn, and its effect may have happened. (E4) */
  unknown(path: string, spec: StepSpec): void {
    if (this.#phase.hasBegunUndoing || spec.undo === undefined) return;
    this.#undos.push(undoOf(path, spec, spec.undo.unknown, () => undefined));
  }

  /** An interrupted turn may have executed steps that nothing can name but by their turn. (E9) */
  interrupted(path: string): void {
    if (!this.#phase.hasBegunUndoing) this.addUncompensated(path);
  }

  /** Names what nothing can undo, unless an undo for it is registered. */
  addUncompensated(path: string): void {
    if (!this.#undos.some((undo) => undo.path === path)) this.#undos.push({ ...unnamedUndo, path });
  }

  /** The author registered an undo. */
  add(path: string, spec: CompensateSpec, work: Undo['work']): void {
    if (this.#phase.hasBegunUndoing) return;
    const { label, retry, timeoutMs } = spec;
    if (work?.kind !== 'named') this.registered.push(path);
    this.#undos.push({ path, key: undefined, label, work, facts: () => ({}), retry, timeoutMs });
  }

  /** What came before is never undone. (E5) */
  pivot(): void {
    if (this.#phase.hasBegunUndoing) return;
    this.#undos = [];
    this.registered = [];
  }

  /**
   * Entries that the code no longer knows: what has a named compensator can be undone, other effects are residue.
   *
   * @param registered - paths of undos registered without a name when the state was sealed; undefined if unknown
   */
  skipped(
    entries: readonly SkippedEntry[],
    runtime: Runtime,
    report: UndoReport,
    registered?: readonly string[],
  ): void {
    for (const { type, path, value } of entries.filter((entry) => !isOfUndo(entry))) {
      if (type === 'pivoted') this.#undos = [];
      else if (mayHaveHappened(type, value)) this.#foreign(path, undefined, undefined);
      else if (type === 'namedUndo') {
        const bound = toBoundUndo(value, (name) => runtime.compensator(name)?.run);
        this.#foreign(path, bound, keyOf(path, value));
      }
    }
    if (registered !== undefined) this.#correct(registered);
    for (const { type, path } of entries.filter(isOfUndo)) this.#skippedUndo(type, path, report);
  }

  /** Drops undos that only changed code registered. Registered undos missing from the changed code become residue. */
  #correct(registered: readonly string[]): void {
    const now = new Set(this.registered);
    const then = new Set(registered);
    this.#undos = this.#undos.filter(({ path }) => !now.has(path) || then.has(path));
    this.registered = [...registered];
    for (const path of registered) if (!now.has(path)) this.#foreign(path, undefined, undefined);
  }

  /** An entry of an undo, made before the code changed once more: what it undid is not undone again. */
  #skippedUndo(type: EntryType, entry: string, report: UndoReport): void {
    const whole = this.#undos.findLastIndex(({ path }) => undoMark + path === entry);
    if (whole !== -1) {
      if (type === 'retry') return;
      const [undo] = this.#undos.splice(whole, 1) as [Undo];
      report[type === 'empty' ? 'compensated' : 'residue'].push(toUndone(undo));
      return;
    }
    // A step of an undo of several steps: how many there were, only the code of then knew.
    const part = this.#undos.findLastIndex(
      ({ path }) => undoKeyMark + path === entry || entry.startsWith(`${undoMark}${path}/`),
    );
    if (part !== -1) {
      report.residue.push(toUndone(this.#undos.splice(part, 1)[0] as Undo));
      return;
    }
    // The changed code does not undo the step, or its undo is listed already.
    const isKey = entry.startsWith(undoKeyMark);
    const stepId = entry.slice((isKey ? undoKeyMark : undoMark).length);
    const listed = [...report.compensated, ...report.residue];
    if (type === 'retry' || listed.some((one) => `${stepId}/`.startsWith(`${one.stepId}/`))) return;
    report[type === 'empty' ? 'compensated' : 'residue'].push({ stepId });
  }

  #foreign(path: string, bound: BoundUndo | undefined, key: string | undefined): void {
    this.#undos = this.#undos.filter((undo) => undo.path !== path);
    const rest = { key, label: undefined, retry: defaultUndoRetry, timeoutMs: undefined };
    this.#undos.push({ path, work: toWork(bound), facts: () => ({}), ...rest });
  }
}

/**
 * The author's key of a step: in its path, `id(key)#2`, where no other part has a parenthesis. Not in the path of a
 * machine's effect, which has no key, and whose named undo says so.
 */
function keyOf(path: string, named: unknown): string | undefined {
  if (Array.isArray(named) && named[2] === null) return undefined;
  return /^[^(]*\((.*)\)(?:#\d+)?$/s.exec(path)?.[1];
}

function undoOf(path: string, spec: StepSpec, work: Undo['work'], copyResult: () => unknown): Undo {
  const { undo, key, input } = spec;
  const copyInput = copierOf(input);
  return {
    path,
    key,
    label: undo?.label,
    work,
    facts: () => ({ result: copyResult(), input: copyInput() }),
    retry: undo?.retry ?? defaultUndoRetry,
    timeoutMs: undo?.timeoutMs,
  };
}

/** What nothing can undo, and no step has declared: an interrupted turn, a step behind the end of its branch. */
const unnamedUndo: Omit<Undo, 'path'> = {
  key: undefined,
  label: undefined,
  work: undefined,
  facts: () => ({}),
  retry: defaultUndoRetry,
  timeoutMs: undefined,
};

function isUnnamed({ facts }: Undo): boolean {
  return facts === unnamedUndo.facts;
}

/** Makes copies of an input as it is now: no journal has it, and the body may change it. */
function copierOf(value: unknown): () => unknown {
  if (typeof value !== 'object' || value === null) return () => value;
  const text = encode(value);
  return () => decode(text);
}

function toWork(bound: BoundUndo | undefined): Undo['work'] {
  return bound === undefined ? undefined : { kind: 'named', bound };
}

/** `true` if an entry belongs to an undo. */
function isOfUndo({ path }: SkippedEntry): boolean {
  return path.startsWith(undoMark);
}

function mayHaveHappened(type: EntryType, value: unknown): boolean {
  if (type === 'retry') return Array.isArray(value) && value[2] === true;
  return isDone(type) || type === 'unknown' || type === 'interrupted';
}

/** A named undo as the journal keeps it: its name, its arguments; then null, where its step has no key. */
export function toBoundUndo(
  value: unknown,
  runOf: (name: string) => BoundUndo['run'] | undefined,
): BoundUndo | undefined {
  if (!Array.isArray(value)) return undefined;
  const [name, args] = value as [string, unknown];
  const run = runOf(name);
  return run === undefined ? undefined : { name, args, run };
}
