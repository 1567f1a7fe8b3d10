import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';

/** How a turn uses its time. */
export interface TurnBudgetOptions {
  readonly runtime: Runtime;
  /** Number of turns before this one. */
  readonly turnsBefore: number;
  /** `true` if the client gets a token before the first effect runs. */
  readonly commitFirst: boolean;
}

/**
 * Time of one turn: what may still run in the request, what waits for the next turn, and how long the request is held. Generators
 * and machines decide by the same budget.
 */
export class TurnBudget {
  #canSuspend = true;
  readonly #commitFirst: boolean;
  #runtime: Runtime;
  #held = 0;

  constructor({ runtime, turnsBefore, commitFirst }: TurnBudgetOptions) {
    this.#runtime = runtime;
    this.#commitFirst = commitFirst && turnsBefore === 0;
  }

  /** `false` if no state can be sealed: then the turn runs to its end, however long that takes. */
  get canSuspend(): boolean {
    return this.#canSuspend;
  }

  /** From here on, no state can be sealed. */
  runToEnd(): void {
    this.#canSuspend = false;
  }

  /** Returns `true` if something may still run, or a delay pass, in this turn. */
  hasTime(now: number): boolean {
    const { deadline = Number.POSITIVE_INFINITY, stops } = this.#runtime;
    return !this.canSuspend || (now < deadline && stops?.aborted !== true);
  }

  /**
   * Returns `true` if an effect that is due waits for the next turn.
   *
   * @param now - milliseconds since the epoch
   * @param isUncommitted - `true` if the state has to be kept before another effect runs
   * @param isRepeatable - `true` if the effect may run before the client has a token
   */
  defers(now: number, isUncommitted: boolean, isRepeatable: boolean = false): boolean {
    const { defersEffects, tokenBytes } = this.#runtime;
    if (!this.hasTime(now) || defersEffects === true) return true;
    if (!this.canSuspend) return false;
    return isUncommitted || (this.#commitFirst && tokenBytes === 0 && !isRepeatable);
  }

  /** Returns `true` if the turn may commit its state and continue. Undoing may, even without time. */
  mayCommit(reason: CommitReason): boolean {
    const isPutOff = this.#runtime.defersEffects === true || !this.hasTime(this.#runtime.now());
    return !isPutOff || reason === 'undo';
  }

  /** The turn was committed: the next one has a token, and a deadline of its own. */
  committed(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  /**
   * Decides how long the request waits if nothing is left to do but wait.
   *
   * @param due - time at which something is due (ms since the epoch)
   * @param now - milliseconds since the epoch
   * @param isUncommitted - `true` if the turn ends before another effect runs
   * @param canFail - `false` if the wait cannot fail, such as the delay of a retry
   * @returns milliseconds; `hopeless` if neither the request nor the client can wait that long; undefined if the turn ends
   */
  waitUntil(
    due: number,
    now: number,
    isUncommitted: boolean,
    canFail: boolean = true,
  ): number | 'hopeless' | undefined {
    const ms = due - now;
    if (ms <= 0) return undefined;
    const { maxWait, holdsParts, deadline } = this.#runtime;
    const room = this.#room(now, isUncommitted);
    const fits = ms <= room;
    const isInTime = this.canSuspend && this.hasTime(now);
    // A client without a token waits for this request.
    const isTooLong = (!fits || deadline === undefined) && ms > maxWait - this.#held;
    if (isTooLong && isInTime && canFail) return 'hopeless';
    if (fits) return ms;
    return holdsParts && room > 0 ? room : undefined;
  }

  /** Holds the request, or until the turn is told to stop. */
  async hold(ms: number): Promise<void> {
    this.#held += ms;
    await this.#runtime.sleep(ms, this.#runtime.stops ?? this.#runtime.signal);
  }

  /** Time for which the request can still be held, in milliseconds. */
  #room(now: number, isUncommitted: boolean): number {
    const { deadline, maxHold, stops } = this.#runtime;
    if (!this.canSuspend) return Number.POSITIVE_INFINITY;
    if (isUncommitted || stops?.aborted === true) return 0;
    return deadline === undefined ? Number.POSITIVE_INFINITY : Math.min(maxHold - this.#held, deadline - now);
  }
}
