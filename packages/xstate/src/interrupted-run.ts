import type { Runtime } from '@mcp-saga/core';
import type { ActiveStepRecord } from './machine-record.ts';

/**
 * An earlier run of this turn that began and never finished: what of the machine's effects it may have executed. Each of them
 * starts with an unknown outcome, so that a later error cannot report that its effect did not happen.
 */
export class InterruptedRun {
  /** The interrupted turn that may have executed effects which no later turn begins; undefined if there is none. */
  readonly turn: number | undefined;
  readonly #isUnknown: boolean;

  /** @param steps - an effect that an earlier turn had no time for carries the number of the interrupted turn */
  constructor(runtime: Runtime, steps: Iterable<ActiveStepRecord> = []) {
    const { isInterrupted, turn, checkpointAfterStep, defersEffects, deadline } = runtime;
    const runs = defersEffects !== true && deadline !== Number.NEGATIVE_INFINITY;
    this.#isUnknown = runs && isInterrupted === true;
    const turns = [...steps].flatMap(({ e: [, , , , interrupted] = [] }) => interrupted ?? []);
    // With a token after each effect, it began the same effects as this run, and no others.
    if (this.#isUnknown && !checkpointAfterStep) turns.push(turn);
    this.turn = turns.length === 0 ? undefined : Math.min(...turns);
  }

  /**
   * Whether it may have executed an effect that begins now.
   *
   * @param isStepKept - `true` if this turn has ended behind an effect: so has that run
   */
  mayHaveRun(isStepKept: boolean): boolean {
    return this.turn !== undefined || (this.#isUnknown && !isStepKept);
  }
}
