import type { Runtime } from '@mcp-saga/core/program';
import type { ActiveStepRecord } from '../model/machine-record.ts';

/**
 * Finds the effects that an earlier run of this turn may have executed: a run that began and never finished. Such an effect
 * starts with an unknown outcome, so that a later error cannot report that the effect did not happen.
 */
export class InterruptedRun {
  /** Number of the interrupted turn, if that run may have executed effects that no later turn begins. */
  readonly turn: number | undefined;
  readonly #isUnknown: boolean;

  /**
   * @param steps - stored steps: an effect that an earlier turn did not reach carries the number of the interrupted turn
   * @param isChanged - `true` if the machine has changed, so that the interrupted run may have begun other effects
   */
  constructor(runtime: Runtime, steps: Iterable<ActiveStepRecord> = [], isChanged = false) {
    const { isInterrupted, turn, commitsEach, defersEffects, deadline } = runtime;
    const runs = defersEffects !== true && deadline !== Number.NEGATIVE_INFINITY;
    this.#isUnknown = runs && isInterrupted === true;
    const turns = [...steps].flatMap(({ e }) => e?.[4] ?? []);
    // With a token after each effect, the interrupted run began the same effects as this one.
    if (this.#isUnknown && (!commitsEach || isChanged)) turns.push(turn);
    this.turn = turns.length === 0 ? undefined : Math.min(...turns);
  }

  /**
   * Returns `true` if the interrupted run may have executed an effect that begins now.
   *
   * @param isStepKept - `true` if an effect ended this turn: the same effect ended the interrupted run
   */
  mayHaveRun(isStepKept: boolean): boolean {
    return this.turn !== undefined || (this.#isUnknown && !isStepKept);
  }
}
