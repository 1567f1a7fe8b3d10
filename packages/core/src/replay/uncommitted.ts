import type { CommitReason } from '../model/outcome.ts';

/**
 * What a turn has done since the last commit: the reasons for the next one.
 *
 * A read may follow what a repetition of the turn would only see again, such as a time that has
 * passed or another read. It waits for the commit of an effect that ended by chance: if the process
 * died during the read, a repetition would run the effect once more, or not know its outcome.
 */
export class Uncommitted {
  readonly #reasons = new Set<CommitReason>();
  #hasEffect = false;
  #hasEffectByChance = false;

  note(reason: CommitReason): void {
    this.#reasons.add(reason);
  }

  /**
   * Notes the end of a step.
   * @param isRead - `true` for a step without an effect
   * @param isByChance - `true` if it may end otherwise in a repetition
   */
  noteStep(isRead: boolean, isByChance: boolean): void {
    this.note('step');
    if (isByChance) this.note('chance');
    this.#hasEffect ||= !isRead;
    this.#hasEffectByChance ||= !isRead && isByChance;
  }

  /** `true` if a step has ended since the last commit. */
  get hasStep(): boolean {
    return this.#reasons.has('step');
  }

  /**
   * Returns `true` if an effect must be committed before a read runs.
   * @param commitsEach - `true` if each step is committed before the next one
   */
  holdsReads(commitsEach: boolean): boolean {
    return commitsEach ? this.#hasEffect : this.#hasEffectByChance;
  }

  /** Reason why a repeated turn may take another branch. `isUndoing`: compensation has begun. */
  reason(isUndoing: boolean): Exclude<CommitReason, 'step'> | undefined {
    if (this.#reasons.has('undo')) return 'undo';
    if (this.#reasons.has('pivot')) return 'pivot';
    if (!this.#reasons.has('chance')) return undefined;
    return isUndoing ? 'undo' : 'chance';
  }

  /** Forgets everything after a commit or replay. */
  clear(): void {
    this.#reasons.clear();
    this.#hasEffect = false;
    this.#hasEffectByChance = false;
  }
}
