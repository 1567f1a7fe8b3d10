import type { Runtime } from '@mcp-saga/core/program';
import type { ActiveStepRecord } from '../model/machine-record.ts';

/**
 * Effects that an interrupted run of this turn may have executed. They start with an unknown outcome, so that a later error
 * cannot report that they did not happen.
 */
export class InterruptedRun {
  /** Number of the interrupted turn, if that run may have executed effects that no later turn begins. */
  readonly turn: number | undefined;
  readonly #isUnknown: boolean;

  /** `steps`: effects not reached carry the number of the interrupted turn. `isChanged`: that run may have begun other effects. */
  constructor(runtime: Runtime, steps: Iterable<ActiveStepRecord> = [], isChanged = false) {
    const { isInterrupted, turn, commitsEach, defersEffects, deadline } = runtime;
    const runs = defersEffects !== true && deadline !== Number.NEGATIVE_INFINITY;
    this.#isUnknown = runs && isInterrupted === true;
    const turns = [...steps].flatMap(({ e }) => e?.[4] ?? []);
    // With a token after each effect, the interrupted run began the same effects as this one.
    if (this.#isUnknown && (!commitsEach || isChanged)) turns.push(turn);
    this.turn = turns.length === 0 ? undefined : Math.min(...turns);
  }

  /** `true` if the interrupted run may have executed an effect that begins now. `isStepKept`: an effect ended both runs. */
  mayHaveRun(isStepKept: boolean): boolean {
    return this.turn !== undefined || (this.#isUnknown && !isStepKept);
  }
}
