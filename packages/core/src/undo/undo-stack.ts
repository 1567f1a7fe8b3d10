import { decode, encode } from '../values/codec.ts';
import type { StepUndo, UndoWork } from '../model/command.ts';
import type { StepSpec } from '../effects/kinds/step.ts';
import type { RuntimeEffects } from '../model/runtime.ts';
import { keyInPath, undoKeyMark, undoMark } from '../values/path.ts';
import type { BoundUndo, UnknownUndoContext } from '../model/undo-types.ts';
import { isDone, type EntryType } from '../journal/entry-types.ts';
import type { SkippedEntry } from '../journal/journal.ts';
import { defaultUndoRetry, toUndone, type Undo, type UndoReport } from './undo-all.ts';

/** A named undo in the journal. `bound` is undefined if the compensator is no longer known. */
export interface SealedUndo {
  readonly bound: BoundUndo | undefined;
}

/** Undos to run if the saga ended now, in the order of their steps. */
export class UndoStack {
  hasPivoted = false;
  readonly #phase: { readonly hasBegunUndoing: boolean };
  #undos: Undo[] = [];

  constructor(phase: { readonly hasBegunUndoing: boolean }) {
    this.#phase = phase;
  }

  get empty(): boolean {
    return this.#undos.every(isUnnamed);
  }

  /** Takes the last undo, which runs next. */
  take(): Undo | undefined {
    return this.#undos.pop();
  }

  /** Returns an undo that did not run. */
  putBack(undo: Undo): void {
    this.#undos.push(undo);
  }

  /**
   * Adds the undo of a finished step. `copyResult` copies the result, because the body may change
   * the original.
   */
  done(
    path: string,
    spec: StepSpec,
    copyResult: () => unknown,
    sealed: SealedUndo | undefined,
  ): void {
    const work = spec.undo?.work;
    // A sealed undo runs even if the code has dropped the compensation since.
    if (this.#phase.hasBegunUndoing || (work === undefined && sealed === undefined)) return;
    // Bound arguments come from the result, and are sealed with it.
    const isBound = sealed !== undefined || work === undefined || 'bind' in work;
    const undoWork = isBound ? toWork(sealed?.bound) : work;
    this.#undos.push(new StepUndoing(path, spec, undoWork, { outcome: 'done', copy: copyResult }));
  }

  /** Adds the undo of a failed or withdrawn step with an unknown effect. */
  unknown(path: string, spec: StepSpec): void {
    if (this.#phase.hasBegunUndoing || spec.undo === undefined) return;
    const work = spec.undo.undoesUnknown ? workForUnknown(spec.undo.work) : undefined;
    this.#undos.push(new StepUndoing(path, spec, work, unknownOutcome));
  }

  /** Notes an interrupted turn, which may have executed unnamed steps. */
  interrupted(path: string): void {
    if (!this.#phase.hasBegunUndoing) this.addUncompensated(path);
  }

  /** Reports a path as uncompensated, unless the stack has its undo. */
  addUncompensated(path: string): void {
    if (!this.#undos.some((undo) => undo.path === path)) this.#undos.push({ ...unnamedUndo, path });
  }

  /** Drops all undos: steps before a pivot are never undone. */
  pivot(): void {
    if (this.#phase.hasBegunUndoing) return;
    this.#undos = [];
    this.hasPivoted = true;
  }

  /**
   * Takes entries that the code no longer knows: named compensators can run, other effects are
   * uncompensated.
   */
  skipped(
    entries: readonly SkippedEntry[],
    effects: Pick<RuntimeEffects, 'compensator'>,
    report: UndoReport,
  ): void {
    for (const { type, path, value } of entries.filter((entry) => !isOfUndo(entry))) {
      if (type === 'pivoted') this.#undos = [];
      else if (mayHaveHappened(type, value)) this.#foreign(path, undefined, undefined);
      else if (type === 'namedUndo') {
        const bound = toBoundUndo(value, (name) => effects.compensator(name)?.run);
        this.#foreign(path, bound, keyOf(path, value));
      }
    }
    for (const { type, path } of entries.filter(isOfUndo)) this.#skippedUndo(type, path, report);
  }

  /** Takes an entry of an undo by older code: undone steps are not undone again. */
  #skippedUndo(type: EntryType, entry: string, report: UndoReport): void {
    const whole = this.#undos.findLastIndex(({ path }) => undoMark + path === entry);
    if (whole !== -1) {
      if (type === 'retry') return;
      const [undo] = this.#undos.splice(whole, 1) as [Undo];
      report[type === 'empty' ? 'compensated' : 'uncompensated'].push(toUndone(undo));
      return;
    }
    // A step of an undo of several steps: only the older code knew the number of steps.
    const part = this.#undos.findLastIndex(
      ({ path }) => undoKeyMark + path === entry || entry.startsWith(`${undoMark}${path}/`),
    );
    if (part !== -1) {
      report.uncompensated.push(toUndone(this.#undos.splice(part, 1)[0] as Undo));
      return;
    }
    // The changed code does not undo the step, or the undo is listed already.
    const isKey = entry.startsWith(undoKeyMark);
    const stepId = entry.slice((isKey ? undoKeyMark : undoMark).length);
    const listed = [...report.compensated, ...report.uncompensated];
    if (type === 'retry' || listed.some((one) => `${stepId}/`.startsWith(`${one.stepId}/`))) return;
    report[type === 'empty' ? 'compensated' : 'uncompensated'].push({ stepId });
  }

  #foreign(path: string, bound: BoundUndo | undefined, key: string | undefined): void {
    this.#undos = this.#undos.filter((undo) => undo.path !== path);
    this.#undos.push({ path, key, work: toWork(bound), facts: () => ({}), policy: defaultPolicy });
  }
}

/**
 * Author's key of a step. Effects of a machine have no key, and their named undo has a third element
 * `null`.
 */
function keyOf(path: string, named: unknown): string | undefined {
  if (Array.isArray(named) && named[2] === null) return undefined;
  return keyInPath(path);
}

/**
 * Undo of a step. A class: V8 moves literals that live as long as a turn, and their garbage, to the
 * old generation.
 */
class StepUndoing implements Undo {
  readonly path: string;
  readonly key: string | undefined;
  readonly work: Undo['work'];
  readonly policy: Undo['policy'];
  readonly facts: Undo['facts'];

  constructor(
    path: string,
    { undo, key, input }: StepSpec,
    work: Undo['work'],
    { outcome, copy }: Outcome,
  ) {
    const copyInput = copierOf(input);
    this.path = path;
    this.key = key;
    this.work = work;
    this.policy = undo ?? defaultPolicy;
    this.facts = () => ({ outcome, result: copy(), input: copyInput() });
  }
}

interface Outcome {
  readonly outcome: 'done' | 'unknown';
  /** Copies the result. */
  readonly copy: () => unknown;
}

const unknownOutcome: Outcome = { outcome: 'unknown', copy: () => undefined };

/** Binds a named undo when it runs: no entry of a journal has its arguments. */
function workForUnknown(work: StepUndo['work']): UndoWork {
  if (!('bind' in work)) return work;
  const run = (undo: UnknownUndoContext<never>): unknown => {
    const { run: runBound, args } = work.bind(undo as never);
    return runBound(Object.assign(undo, { args }) as never);
  };
  return { kind: 'function', run };
}

const defaultPolicy = { label: undefined, retry: defaultUndoRetry, timeoutMs: undefined };

/** Undo of an undeclared effect: an interrupted turn, or a step after the end of a branch. */
const unnamedUndo: Omit<Undo, 'path'> = {
  key: undefined,
  work: undefined,
  facts: () => ({}),
  policy: defaultPolicy,
};

function isUnnamed({ facts }: Undo): boolean {
  return facts === unnamedUndo.facts;
}

/** Copies the current input, which is not in the journal and which the body may change. */
function copierOf(value: unknown): () => unknown {
  if (typeof value !== 'object' || value === null) return () => value;
  const text = encode(value);
  return () => decode(text);
}

function toWork(bound: BoundUndo | undefined): Undo['work'] {
  return bound === undefined ? undefined : { kind: 'named', bound };
}

function isOfUndo({ path }: SkippedEntry): boolean {
  return path.startsWith(undoMark);
}

function mayHaveHappened(type: EntryType, value: unknown): boolean {
  if (type === 'retry') return Array.isArray(value) && value[2] === true;
  return ['unknown', 'interrupted', 'suspected'].includes(type) || isDone(type);
}

/** Reads a named undo from the journal: name, arguments, and `null` for a step without a key. */
export function toBoundUndo(
  value: unknown,
  runOf: (name: string) => BoundUndo['run'] | undefined,
): BoundUndo | undefined {
  if (!Array.isArray(value)) return undefined;
  const [name, args] = value as [string, unknown];
  const run = runOf(name);
  return run === undefined ? undefined : { name, args, run };
}
