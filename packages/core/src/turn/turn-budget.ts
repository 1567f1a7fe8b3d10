import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';

/**
 * Time budget of one turn: decides if a task runs now or in the next turn, and how long the request
 * is held. Shared by generators and machines.
 */
export class TurnBudget {
  #canSuspend = true;
  #runtime: Runtime;
  #held = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
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
   * @param isVital - `true` for a step that must not run before somebody can continue the saga
   */
  defers(now: number, isUncommitted: boolean, isVital: boolean): boolean {
    if (!this.hasTime(now) || this.#runtime.turn.defersEffects === 'all') return true;
    return this.canSuspend && (isUncommitted || (isVital && this.holdsVital));
  }

  /** `true` if the turn can commit between two effects, for other reasons than a vital one. */
  get canCommit(): boolean {
    const { commit, defersEffects, tokenBytes } = this.#runtime.turn;
    const isUnheld = defersEffects === 'vital' && tokenBytes === 0;
    return this.#canSuspend && commit !== undefined && !isUnheld;
  }

  /** `true` while vital effects wait until somebody else knows of the saga. */
  get holdsVital(): boolean {
    const { defersEffects, tokenBytes } = this.#runtime.turn;
    return (defersEffects === 'vital' || defersEffects === 'untold') && tokenBytes === 0;
  }

  /** `true` if the turn may commit the state and continue. An undo may, even without time. */
  mayCommit(reason: CommitReason): boolean {
    const isPutOff =
      this.#runtime.turn.defersEffects === 'all' || !this.hasTime(this.#runtime.time.now());
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
   * @param canFail - `false` if the wait cannot fail, such as the delay of a retry
   * @returns milliseconds; `hopeless` if neither the request nor the client can wait that long;
   * undefined if the turn ends
   */
  waitUntil(
    due: number,
    now: number,
    isUncommitted: boolean,
    canFail: boolean = true,
  ): number | 'hopeless' | undefined {
    const ms = due - now;
    if (ms <= 0) return undefined;
    const { maxWait, holdsParts } = this.#runtime.time;
    const { deadline } = this.#runtime.turn;
    const canReturn = ms <= maxWait - this.#held;
    const room = this.#room(now, isUncommitted);
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
