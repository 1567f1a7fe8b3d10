import type { SagaVersion } from '../model/outcome.ts';

/** How a body ended, and what was undone. */
export type ExecutionEnd =
  | { readonly result: unknown }
  | { readonly error: unknown }
  | { readonly next: { readonly program: SagaVersion; readonly args: unknown } };

/** Reason to end a body before it returns. */
export type Cause = Exclude<ExecutionEnd, { readonly result: unknown }>;

/** State of a body, with its cause. */
type State =
  | { readonly name: 'running'; readonly cause?: undefined }
  /** It was told to end, and its `finally` blocks run. */
  | { readonly name: 'ending'; readonly cause: Cause }
  /** What it did is undone. */
  | { readonly name: 'undoing'; readonly cause: { readonly error: unknown } }
  | { readonly name: 'ended'; readonly cause: ExecutionEnd };

/**
 * Phase of a turn: it replays what was recorded, then runs live. In both, its body runs, is told to end, is undone, and has
 * ended, in this order.
 */
export class Phase {
  #isLive = false;
  #state: State = { name: 'running' };

  /** `true` until the end of the journal: nothing that happens is news. */
  get isReplaying(): boolean {
    return !this.#isLive;
  }

  /** Replay has ended. */
  goLive(): void {
    this.#isLive = true;
  }

  /** `true` if the body has not been told to end. */
  get isRunning(): boolean {
    return this.#state.name === 'running';
  }

  /** `true` if the body failed, or was told to end by an error: what it did is undone, and nothing else is done. */
  get undoes(): boolean {
    const { cause } = this.#state;
    return cause !== undefined && 'error' in cause;
  }

  /** `true` once compensation has begun: steps from here on belong to it. */
  get hasBegunUndoing(): boolean {
    return this.undoes && this.#state.name !== 'ending';
  }

  /** Reason for the end of the body. */
  get cause(): Cause | undefined {
    const { cause } = this.#state;
    return cause === undefined || 'result' in cause ? undefined : cause;
  }

  /** How the body ended. Undefined if it has not ended. */
  get end(): ExecutionEnd | undefined {
    return this.#state.name === 'ended' ? this.#state.cause : undefined;
  }

  /** The body is told to end. */
  beginEnd(cause: Cause): void {
    this.#assert('running');
    this.#state = { name: 'ending', cause };
  }

  /** Compensation begins, or begins again for another error. A result that is refused is undone, too. */
  beginUndo(error: unknown): void {
    this.#state = { name: 'undoing', cause: { error } };
  }

  /** The body has returned. A cause for its end counts more than its result. */
  returned(result: unknown): void {
    this.#assert('running', 'ending');
    this.#state = { name: 'ended', cause: this.#state.cause ?? { result } };
  }

  /** The result was checked, and may have been changed by that. */
  checked(result: unknown): void {
    this.#assert('ended');
    this.#state = { name: 'ended', cause: { result } };
  }

  /** All that can be undone is. */
  undone(): void {
    this.#assert('undoing');
    this.#state = { name: 'ended', cause: this.#state.cause as { readonly error: unknown } };
  }

  #assert(...names: State['name'][]): void {
    if (!names.includes(this.#state.name))
      throw new TypeError(`A body that is ${this.#state.name} cannot be ${names.join(' or ')}.`);
  }
}
