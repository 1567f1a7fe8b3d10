import type { CommitReason } from '../model/outcome.ts';

/** What was recorded since the last commit, as far as it is a reason for another one. */
export class Uncommitted {
  readonly #reasons = new Set<CommitReason>();

  /** Notes a reason for a commit. */
  note(reason: CommitReason): void {
    this.#reasons.add(reason);
  }

  /** `true` if a step has ended since the last commit. */
  get hasStep(): boolean {
    return this.#reasons.has('step');
  }

  /** Reason why a repetition of the turn may take another branch. `isUndoing`: compensation has begun, and includes what follows. */
  reason(isUndoing: boolean): Exclude<CommitReason, 'step'> | undefined {
    if (this.#reasons.has('undo')) return 'undo';
    if (this.#reasons.has('pivot')) return 'pivot';
    if (!this.#reasons.has('chance')) return undefined;
    return isUndoing ? 'undo' : 'chance';
  }

  /** Forgets all reasons: everything recorded so far is committed, or was replayed. */
  clear(): void {
    this.#reasons.clear();
  }
}
