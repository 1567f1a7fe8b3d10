import type { CommitReason } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { Uncommitted } from '../replay/uncommitted.ts';

/**
 * Budget of one turn, the same for generators and machines: decides if an effect runs now, after a
 * commit, or in the next turn, and how long the request is held.
 *
 * - A repetition of the turn may take another branch: a step ends otherwise, or a time has passed.
 *   What decided the branch is committed before the next effect, so that no repetition misses an
 *   effect that has run, or runs a second one instead.
 * - A step that must not be lost runs once somebody can continue the saga.
 */
export class TurnBudget {
  /** What the turn has done since the last commit. */
  readonly uncommitted: Uncommitted;
  #canSuspend = true;
  #runtime: Runtime;
  #held = 0;

  constructor(runtime: Runtime, uncommitted: Uncommitted = new Uncommitted()) {
    this.#runtime = runtime;
    this.uncommitted = uncommitted;
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
   * @param waitsForCommit - `true` if a commit must come before the effect
   * @param isVital - `true` for a step that must not run before somebody can continue the saga
   */
  defers(now: number, waitsForCommit: boolean, isVital: boolean): boolean {
    if (!this.hasTime(now) || this.#runtime.turn.defersEffects === 'all') return true;
    return this.canSuspend && (waitsForCommit || (isVital && this.holdsVital));
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

  /**
   * Returns why the state must be committed before the next effect; undefined if it need not be.
   * @param isUndoing - `true` once the undo of a step has begun
   */
  reasonToCommit(isUndoing: boolean = false): CommitReason | undefined {
    const reason = this.canCommit ? this.uncommitted.reason(isUndoing) : undefined;
    return reason ?? (this.isStepUncommitted ? 'step' : undefined);
  }

  /**
   * Returns `true` if work waits for a commit. A read waits only for that of an effect, see
   * `Uncommitted`.
   * @param isRead - `true` for a step that only reads
   * @param isUndoing - `true` once the undo of a step has begun
   */
  waitsForCommit(isRead: boolean, isUndoing: boolean = false): boolean {
    const reason = this.reasonToCommit(isUndoing);
    if (!isRead || reason !== 'chance') return reason !== undefined;
    return this.uncommitted.holdsReads(this.#runtime.turn.commitsEach);
  }

  /** `true` if each step is committed, and one has ended since the last commit. */
  get isStepUncommitted(): boolean {
    return this.#runtime.turn.commitsEach && this.uncommitted.hasStep;
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
    this.uncommitted.clear();
  }

  /**
   * Decides how long the request waits if all tasks wait.
   * @param due - due time of the next event (ms since the epoch)
   * @param now - milliseconds since the epoch
   * @param canFail - `false` if the wait cannot fail, such as the delay of a retry
   * @returns milliseconds; `hopeless` if neither the request nor the client can wait that long;
   * undefined if the turn ends
   */
  waitUntil(due: number, now: number, canFail: boolean = true): number | 'hopeless' | undefined {
    const ms = due - now;
    if (ms <= 0) return undefined;
    const { maxWait, holdsParts } = this.#runtime.time;
    const { deadline } = this.#runtime.turn;
    const canReturn = ms <= maxWait - this.#held;
    const room = this.#room(now);
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
  #room(now: number): number {
    const { turn, time, request } = this.#runtime;
    if (!this.canSuspend) return Number.POSITIVE_INFINITY;
    // The turn ends before another effect runs.
    if (this.isStepUncommitted || request.stops?.aborted === true) return 0;
    if (turn.deadline === undefined) return Number.POSITIVE_INFINITY;
    return Math.min(time.maxHold - this.#held, turn.deadline - now);
  }
}
