import type { CommitReason } from '../model/outcome.ts';

/** Recorded reasons for the next commit. */
export class Uncommitted {
  readonly #reasons = new Set<CommitReason>();

  note(reason: CommitReason): void {
    this.#reasons.add(reason);
  }

  /** `true` if a step has ended since the last commit. */
  get hasStep(): boolean {
    return this.#reasons.has('step');
  }

  /** Reason why a repeated turn may take another branch. `isUndoing`: compensation has begun. */
  reason(isUndoing: boolean): Exclude<CommitReason, 'step'> | undefined {
    if (this.#reasons.has('undo')) return 'undo';
    if (this.#reasons.has('pivot')) return 'pivot';
    if (!this.#reasons.has('chance')) return undefined;
    return isUndoing ? 'undo' : 'chance';
  }

  /** Forgets all reasons after a commit or replay. */
  clear(): void {
    this.#reasons.clear();
  }
}
