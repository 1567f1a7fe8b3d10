import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';

const second = 1000;

export interface TurnBudgetOptions {
  readonly runtime: Runtime;
  /** Number of earlier turns. */
  readonly turnsBefore: number;
  /** `true` if the client gets a token before the first effect runs. */
  readonly commitFirst: boolean;
}

/**
 * Time budget of one turn: decides if a task runs now or in the next turn, and how long the request
 * is held. Shared by generators and machines.
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

  /** `false` if no state can be sealed: then the turn runs to the end, however long. */
  get canSuspend(): boolean {
    return this.#canSuspend;
  }

  /** Disables sealing from now on. */
  runToEnd(): void {
    this.#canSuspend = false;
  }

  /** `true` if an effect or a delay still fits into the turn. */
  hasTime(now: number): boolean {
    const { deadline = Number.POSITIVE_INFINITY } = this.#runtime.turn;
    const { stops } = this.#runtime.request;
    return !this.canSuspend || (now < deadline && stops?.aborted !== true);
  }

  /**
   * Returns `true` if a due effect waits for the next turn.
   * @param now - milliseconds since the epoch
   * @param isUncommitted - `true` if the state must be committed before another effect runs
   * @param isRepeatable - `true` if the effect may run before the client has a token
   */
  defers(now: number, isUncommitted: boolean, isRepeatable: boolean = false): boolean {
    const { defersEffects, tokenBytes, commit } = this.#runtime.turn;
    if (!this.hasTime(now) || defersEffects === true) return true;
    if (!this.canSuspend) return false;
    // A first turn that commits can be repeated without a token.
    const needsToken = this.#commitFirst && tokenBytes === 0 && commit === undefined;
    return isUncommitted || (needsToken && !isRepeatable);
  }

  /** `true` if the turn may commit the state and continue. An undo may, even without time. */
  mayCommit(reason: CommitReason): boolean {
    const isPutOff =
      this.#runtime.turn.defersEffects === true || !this.hasTime(this.#runtime.time.now());
    return !isPutOff || reason === 'undo';
  }

  /** Takes over the token and deadline of the next turn. */
  committed(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  /**
   * Decides how long the request waits if all tasks wait.
   * @param due - due time of the next event (ms since the epoch)
   * @param now - milliseconds since the epoch
   * @param isUncommitted - `true` if the turn ends before another effect runs
   * @param hasUndos - `true` if the saga goes on, and its end would undo something
   * @param canFail - `false` if the wait cannot fail, such as the delay of a retry
   * @returns milliseconds; `hopeless` if neither the request nor the client can wait that long;
   * undefined if the turn ends
   */
  waitUntil(
    due: number,
    now: number,
    isUncommitted: boolean,
    hasUndos: boolean,
    canFail: boolean = true,
  ): number | 'hopeless' | undefined {
    const ms = due - now;
    if (ms <= 0) return undefined;
    const { maxWait, holdsParts } = this.#runtime.time;
    const { deadline, tokenBytes } = this.#runtime.turn;
    const canReturn = ms <= maxWait - this.#held;
    // Nothing but this request could undo what ran: before a long wait, the client gets its first
    // token, and a queue its message.
    const isExposed =
      hasUndos &&
      tokenBytes === 0 &&
      deadline !== undefined &&
      canReturn &&
      this.#held + ms >= second;
    const room = this.#room(now, isUncommitted || isExposed);
    const fits = ms <= room;
    const isInTime = this.canSuspend && this.hasTime(now);
    // A client without a token waits for this request.
    const isTooLong = (!fits || deadline === undefined) && !canReturn;
    if (isTooLong && isInTime && canFail) return 'hopeless';
    if (fits) return ms;
    return holdsParts && room > 0 ? room : undefined;
  }

  /** Holds the request for `ms` milliseconds, or until the turn must stop. */
  async hold(ms: number): Promise<void> {
    this.#held += ms;
    const { signal, stops = signal } = this.#runtime.request;
    await this.#runtime.time.sleep(ms, stops);
  }

  /** Time for which the request can still be held, in milliseconds. */
  #room(now: number, isUncommitted: boolean): number {
    const { turn, time, request } = this.#runtime;
    if (!this.canSuspend) return Number.POSITIVE_INFINITY;
    if (isUncommitted || request.stops?.aborted === true) return 0;
    if (turn.deadline === undefined) return Number.POSITIVE_INFINITY;
    return Math.min(time.maxHold - this.#held, turn.deadline - now);
  }
}
