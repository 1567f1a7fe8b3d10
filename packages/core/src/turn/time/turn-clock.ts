import type { Runtime } from '../../model/runtime.ts';

/** Something that has a time. */
export interface Timed {
  /** `true` if its times are those of an earlier turn: they are compared with the time of the answers, not with now. */
  readonly isEarlier?: boolean;
}

/**
 * Clock of one turn. The turn may repeat an interrupted one: what waits since an earlier turn, and what a body reads of the
 * clock, goes by the time at which the answers were received first, so that the repetition takes the same way. What begins to
 * wait in this turn goes by now. (E1)
 */
export class TurnClock {
  readonly #runtime: Pick<Runtime, 'now'>;
  #began = 0;
  /** Time from the first run of the turn to this one, in milliseconds. */
  #delay: number;

  constructor(runtime: Pick<Runtime, 'now' | 'receivedAt'>) {
    this.#runtime = runtime;
    const { receivedAt } = runtime;
    this.#delay = receivedAt === undefined ? 0 : Math.max(0, runtime.now() - receivedAt);
  }

  /** Replay has ended, and the time of this run begins, if it has not begun. Returns the time now. */
  begin(): number {
    const now = this.now();
    this.#began ||= now;
    return now;
  }

  /** The time now, in milliseconds since the epoch. */
  now(): number {
    return this.#runtime.now();
  }

  /** Time at which this run of the turn began, in milliseconds since the epoch. */
  get began(): number {
    return this.#began;
  }

  /** Time at which the answers were received first, in milliseconds since the epoch. */
  get receivedAt(): number {
    return this.#began - this.#delay;
  }

  /** Converts a time of this run to the times of `timed`. */
  timeFor({ isEarlier = false }: Timed, now: number = this.now()): number {
    return isEarlier ? now - this.#delay : now;
  }

  /** Converts a time of `timed` to the time of this run. The inverse of `timeFor`. */
  fromTimeOf({ isEarlier = false }: Timed, time: number): number {
    return isEarlier ? time + this.#delay : time;
  }

  /** The turn was committed: the next one begins now, and was not interrupted. */
  committed(): void {
    this.#began = this.now();
    this.#delay = 0;
  }
}
