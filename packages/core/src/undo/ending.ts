/**
 * How a saga ends: phases of the body, the reason for its end, and the undo of its steps.
 *
 * A body is `running`, then perhaps `ending` (it was told to end, and its `finally` blocks run),
 * then perhaps `undoing`, and at last `ended`. `Phase` holds where it is. `Ending` records why a
 * body ends from outside (cancelled, result refused, state too large, limit), so that a replay
 * ends it at the same place.
 *
 * `UndoStack` (`undo-stack.ts`) has the undos of finished steps, last first. `undoAll`
 * (`undo-all.ts`) is a body itself, whose steps are journaled: after a crash, the undo goes on
 * where it was.
 *
 * - An undo that has finished does not run again, and nothing before a pivot is undone.
 * - A failed undo does not stop the others. Each step since the last pivot that had an undo, or may
 *   have acted, is in the report once: as compensated, or as uncompensated.
 * - The journal may grow beyond its limit during the end, since the limit may be the reason for
 *   it.
 */
import {
  SagaCancelled,
  SagaError,
  SagaLimitExceeded,
  type StepErrorData,
  AuthoringError,
} from '../values/errors.ts';
import { encode } from '../values/codec.ts';
import type { RuntimeObserver } from '../model/runtime.ts';
import { encodeError } from '../values/step-error-data.ts';
import { endMark, undoMark } from '../values/path.ts';
import type { Journal } from '../journal/journal.ts';
import { mismatchOf } from '../journal/mismatch.ts';
import { toUndone, type Undo, type Undoing, type UndoReport } from './undo-all.ts';
import type { UndoStack } from './undo-stack.ts';
import type { SagaVersion } from '../model/outcome.ts';

/** End of a body: its result, error, or continuation. */
export type ExecutionEnd =
  | { readonly result: unknown }
  | { readonly error: unknown }
  | { readonly next: { readonly program: SagaVersion; readonly args: unknown } };

/** Reason to end a body before it returns. */
export type Cause = Exclude<ExecutionEnd, { readonly result: unknown }>;

type State =
  | { readonly name: 'running'; readonly cause?: undefined }
  /** The body was told to end, and `finally` blocks run. */
  | { readonly name: 'ending'; readonly cause: Cause }
  /** Steps are being undone. */
  | { readonly name: 'undoing'; readonly cause: { readonly error: unknown } }
  | { readonly name: 'ended'; readonly cause: ExecutionEnd };

/**
 * Phase of a turn: replay, then live. In both, the body runs, is told to end, is undone, and has
 * ended, in this order.
 */
export class Phase {
  #isLive = false;
  #state: State = { name: 'running' };

  /** `true` until the end of the journal. */
  get isReplaying(): boolean {
    return !this.#isLive;
  }

  goLive(): void {
    this.#isLive = true;
  }

  /** `true` if the body has not been told to end. */
  get isRunning(): boolean {
    return this.#state.name === 'running';
  }

  /** `true` if the body failed, or an error ended the body: the saga is undone. */
  get undoes(): boolean {
    const { cause } = this.#state;
    return cause !== undefined && 'error' in cause;
  }

  /** `true` once compensation has begun: later steps belong to the compensation. */
  get hasBegunUndoing(): boolean {
    return this.undoes && this.#state.name !== 'ending';
  }

  get cause(): Cause | undefined {
    const { cause } = this.#state;
    return cause === undefined || 'result' in cause ? undefined : cause;
  }

  /** End of the body. Undefined while the body runs. */
  get end(): ExecutionEnd | undefined {
    return this.#state.name === 'ended' ? this.#state.cause : undefined;
  }

  beginEnd(cause: Cause): void {
    this.#assert('running');
    this.#state = { name: 'ending', cause };
  }

  /** Begins compensation, or begins again for another error. A refused result is undone, too. */
  beginUndo(error: unknown): void {
    this.#state = { name: 'undoing', cause: { error } };
  }

  /** Notes the result of the body. A cause for the end wins over the result. */
  returned(result: unknown): void {
    this.#assert('running', 'ending');
    this.#state = { name: 'ended', cause: this.#state.cause ?? { result } };
  }

  /** Replaces the result with the checked result. */
  checked(result: unknown): void {
    this.#assert('ended');
    this.#state = { name: 'ended', cause: { result } };
  }

  undone(): void {
    this.#assert('undoing');
    this.#state = { name: 'ended', cause: this.#state.cause as { readonly error: unknown } };
  }

  #assert(...names: State['name'][]): void {
    if (!names.includes(this.#state.name))
      throw new TypeError(`A body that is ${this.#state.name} cannot be ${names.join(' or ')}.`);
  }
}

export type FiberEnd = { readonly result: unknown } | { readonly error: unknown };

/**
 * Recorded end of a body. `cancel`: the saga was cancelled. `result`: the result was refused.
 * `failure`: the state cannot be kept. `limit`: a limit or an error of the engine halted the body.
 */
export type RecordedEnd = 'cancel' | 'result' | 'failure' | 'limit';

/** Receives the reason for the next commit. */
interface CommitReasons {
  note(reason: 'undo'): void;
}

/** Ends an execution, and reports compensated and uncompensated steps. */
export class Ending implements Undoing {
  readonly report: UndoReport = { compensated: [], uncompensated: [] };
  /** Running undo, and the length of the journal at its start. */
  current: { readonly undo: Undo; readonly from: number } | undefined;
  readonly #phase: Phase;
  readonly #journal: Journal;
  readonly #stack: UndoStack;
  readonly #observer: Pick<RuntimeObserver, 'threw'>;
  readonly #uncommitted: CommitReasons;

  constructor(
    phase: Phase,
    journal: Journal,
    stack: UndoStack,
    observer: Pick<RuntimeObserver, 'threw'>,
    uncommitted: CommitReasons,
  ) {
    this.#phase = phase;
    this.#journal = journal;
    this.#stack = stack;
    this.#observer = observer;
    this.#uncommitted = uncommitted;
  }

  /** `true` if the body has passed a pivot: the steps before it are never undone. */
  get hasPivoted(): boolean {
    return this.#stack.hasPivoted;
  }

  /**
   * Begins the end of the body. Lifts the limit of the journal, which may be the reason for the
   * end.
   */
  begin(cause: Cause): void {
    this.#phase.beginEnd(cause);
    this.#journal.lift();
  }

  /**
   * Records why the body ends, so that replay ends the body at the same place for the same reason.
   */
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

  /** Takes the entry of a halt of the body. Undefined if the body was not halted here. */
  takeHalt(): SagaLimitExceeded | ResultRefused | undefined {
    if (!this.#journal.replaying || this.#journal.path !== `${endMark}limit`) return undefined;
    const value = this.#journal.next();
    return typeof value === 'string'
      ? new SagaLimitExceeded(value)
      : new ResultRefused(value as StepErrorData);
  }

  /** Takes the entry of an end from outside. */
  recorded(): { readonly error: unknown; readonly refused: boolean } {
    const refused = this.#journal.path === `${endMark}result`;
    const isFailure = this.#journal.path === `${endMark}failure`;
    const isHalt = this.#journal.path === `${endMark}limit`;
    if (isHalt || (refused && this.#phase.end === undefined)) throw mismatchOf(this.#journal, []);
    const value = this.#journal.next();
    if (refused || isFailure) return { error: new ResultRefused(value as StepErrorData), refused };
    return { error: new SagaCancelled(typeof value === 'string' ? value : undefined), refused };
  }

  /** Ends the body. Returns the error if the steps must be undone. */
  bodyEnded(end: FiberEnd): { readonly error: unknown } | undefined {
    const { cause } = this.#phase;
    if (cause !== undefined && 'error' in cause) return cause;
    if ('error' in end) return end;
    if (cause !== undefined && !this.#stack.empty) return { error: lostUndos() };
    this.#phase.returned(end.result);
    return undefined;
  }

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
    // Steps of an undo report their own errors. Reports the error that ended the undo.
    if (why !== undefined) this.#observer.threw?.(undoMark + undo.path, why);
    this.current = undefined;
  }

  /**
   * Interrupts the undo: an unstarted undo returns to the stack, a partial undo is uncompensated.
   */
  interrupt(): void {
    if (this.current === undefined) return;
    const { undo, from } = this.current;
    if (undo.work?.kind === 'generator' && this.#journal.count > from) {
      this.settle('uncompensated');
    } else {
      this.#stack.putBack(undo);
      this.current = undefined;
    }
  }

  /** Reports all remaining undos as uncompensated. */
  giveUp(): void {
    this.settle('uncompensated');
    while (this.take() !== undefined) this.settle('uncompensated');
  }
}

export function lostUndos(): AuthoringError {
  return new AuthoringError(
    'continueAs() would drop the undo stack. Pass a pivot before it, or undo the steps in this saga.',
    { anchor: 'undos' },
  );
}

/**
 * A result that was refused in an earlier turn, as recorded. Not a StepError: no step returned the
 * result.
 */
export class ResultRefused extends SagaError {
  constructor({ name, message, code, public: isPublic }: StepErrorData) {
    super(message, { code: code ?? 'invalid_result', public: isPublic === true });
    this.name = name;
  }
}
