import { mayHaveRun, type Runtime } from '@mcp-saga/core/program';
import type { ActiveStepRecord } from '../model/machine-record.ts';

/**
 * Effects that an interrupted run of this turn may have executed. They start with an unknown
 * outcome.
 */
export class InterruptedRun {
  /**
   * Number of the interrupted turn, if the interrupted run may have executed effects that no later
   * turn starts.
   */
  readonly turn: number | undefined;
  /**
   * Number to keep while the machine waits for a delay: the interrupted run may have waited for it in
   * its request, and gone on behind it.
   */
  readonly ahead: number | undefined;
  readonly #isUnknown: boolean;

  /**
   * `steps`: effects not reached, with the number of the interrupted turn. `isChanged`: the
   * interrupted run may have started others. `ahead`: the number that the machine keeps.
   */
  constructor(
    run: Runtime['turn'],
    ahead: number | undefined,
    steps: Iterable<ActiveStepRecord> = [],
    isChanged = false,
  ) {
    const { number: turn, commitsEach } = run;
    this.#isUnknown = mayHaveRun(run);
    this.ahead = ahead ?? (this.#isUnknown ? turn : undefined);
    const turns = ahead === undefined ? [] : [ahead];
    for (const { e } of steps) if (e?.[4] !== undefined) turns.push(e[4]);
    // With a token after each effect, both runs start the same effects.
    if (this.#isUnknown && (!commitsEach || isChanged)) turns.push(turn);
    this.turn = turns.length === 0 ? undefined : Math.min(...turns);
  }

  /**
   * `true` if the interrupted run may have executed an effect that starts now. `isStepKept`: an
   * effect ended both runs.
   */
  mayHaveRun(isStepKept: boolean): boolean {
    return this.turn !== undefined || (this.#isUnknown && !isStepKept);
  }
}
