import {
  SagaCancelled,
  SagaError,
  SagaLimitExceeded,
  type StepErrorData,
  AuthoringError,
} from '../values/errors.ts';
import { encode } from '../values/codec.ts';
import type { Runtime } from '../model/runtime.ts';
import { encodeError } from '../values/step-error-data.ts';
import { endMark, undoMark } from '../values/path.ts';
import type { Journal } from '../journal/journal.ts';
import type { Uncommitted } from '../journal/uncommitted-entries.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import type { Cause, Phase } from './phase.ts';
import { toUndone, type Undo, type Undoing, type UndoReport } from './undo-all.ts';
import type { UndoStack } from './undo-stack.ts';

/** How a fiber ended. */
export type FiberEnd = { readonly result: unknown } | { readonly error: unknown };

/**
 * End of a body that is recorded. `cancel`: the saga was cancelled; `result`: its result was refused; `failure`: its state
 * cannot be kept; `limit`: the body met a limit or an error of the engine, and was halted.
 */
export type RecordedEnd = 'cancel' | 'result' | 'failure' | 'limit';

/** How an execution comes to its end: what was undone on the way, and what could not be. */
export class Ending implements Undoing {
  readonly report: UndoReport = { compensated: [], residue: [] };
  /** What is being undone, and how far the journal was when that began. */
  current: { readonly undo: Undo; readonly from: number } | undefined;

  readonly #phase: Phase;
  readonly #journal: Journal;
  readonly #stack: UndoStack;
  readonly #runtime: Pick<Runtime, 'threw'>;
  readonly #uncommitted: Uncommitted;

  constructor(
    phase: Phase,
    journal: Journal,
    stack: UndoStack,
    runtime: Pick<Runtime, 'threw'>,
    uncommitted: Uncommitted,
  ) {
    this.#phase = phase;
    this.#journal = journal;
    this.#stack = stack;
    this.#runtime = runtime;
    this.#uncommitted = uncommitted;
  }

  /** Paths of undos registered without a name since the last pivot. */
  get registered(): readonly string[] {
    return this.#stack.registered;
  }

  /** The body is to end. What it says and undoes from here on has no limit: the limit may be why it ends. */
  begin(cause: Cause): void {
    this.#phase.beginEnd(cause);
    this.#journal.lift();
  }

  /** Records why the body ends, so that replay ends it in the same place for the same reason. */
  record(what: RecordedEnd, error: unknown): void {
    const text =
      what === 'cancel' && error instanceof SagaCancelled
        ? encode(error.reason ?? null)
        : what === 'limit' && error instanceof SagaLimitExceeded
          ? encode(error.message)
          : encodeError(error);
    this.#journal.lift();
    this.#journal.append({ type: 'ended', path: endMark + what, fingerprint: 0, text });
  }

  /** Takes off the entry that says why the body was halted. Undefined if it was not halted here. */
  takeHalt(): SagaLimitExceeded | ResultRefused | undefined {
    if (!this.#journal.replaying || this.#journal.path !== `${endMark}limit`) return undefined;
    const value = this.#journal.next();
    return typeof value === 'string'
      ? new SagaLimitExceeded(value)
      : new ResultRefused(value as StepErrorData);
  }

  /** Takes off the entry that says how the body was ended. */
  recorded(): { readonly error: unknown; readonly refused: boolean } {
    const refused = this.#journal.path === `${endMark}result`;
    const isFailure = this.#journal.path === `${endMark}failure`;
    const isHalt = this.#journal.path === `${endMark}limit`;
    if (isHalt || (refused && this.#phase.end === undefined)) throw mismatchOf(this.#journal, []);
    const value = this.#journal.next();
    if (refused || isFailure) return { error: new ResultRefused(value as StepErrorData), refused };
    return { error: new SagaCancelled(typeof value === 'string' ? value : undefined), refused };
  }

  /** The body has ended. Gives the error for which it is to be undone, if it is. */
  bodyEnded(end: FiberEnd): { readonly error: unknown } | undefined {
    const { cause } = this.#phase;
    if (cause !== undefined && 'error' in cause) return cause;
    if ('error' in end) return end;
    if (cause !== undefined && !this.#stack.empty) return { error: lostUndos() };
    this.#phase.returned(end.result);
    return undefined;
  }

  /** Undoing begins. */
  beginUndo(error: unknown): void {
    this.#phase.beginUndo(error);
    this.#journal.lift();
    this.#uncommitted.note('undo');
  }

  take(): Undo | undefined {
    const undo = this.#stack.take();
    this.current = undo === undefined ? undefined : { undo, from: this.#journal.count };
    return undo;
  }

  settle(into: keyof UndoReport, why?: unknown): void {
    if (this.current === undefined) return;
    const { undo } = this.current;
    this.report[into].push(toUndone(undo));
    // What comes of its steps is told by them; what comes of nothing but its own code is told here.
    if (why !== undefined) this.#runtime.threw?.(undoMark + undo.path, why);
    this.current = undefined;
  }

  /** Undoing is interrupted: what has not begun is on the stack again, what is half undone is residue. */
  interrupt(): void {
    if (this.current === undefined) return;
    const { undo, from } = this.current;
    if (undo.work?.kind === 'generator' && this.#journal.count > from) {
      this.settle('residue');
    } else {
      this.#stack.putBack(undo);
      this.current = undefined;
    }
  }

  /** Nothing can be undone any more: the rest is residue. */
  giveUp(): void {
    this.settle('residue');
    while (this.take() !== undefined) this.settle('residue');
  }
}

/** The error for going on as another saga while something here would have to be undone. */
export function lostUndos(): AuthoringError {
  return new AuthoringError(
    'continueAs() would lose what is on the undo stack: pivot before it, or undo it in this saga.',
  );
}

/**
 * What a body returned was refused, in a turn before this one: of the error's class nothing is left but what it says. It
 * is no step's error, since it was no step that returned it.
 */
export class ResultRefused extends SagaError {
  constructor({ name, message, code, public: isPublic }: StepErrorData) {
    super(message, { code: code ?? 'invalid_result', public: isPublic === true });
    this.name = name;
  }
}
