import type { LiveActor } from './live-actor.ts';

/** An event that an actor gets at a time. */
export interface Timer {
  readonly source: LiveActor;
  readonly target: LiveActor;
  readonly event: object;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** `true` if it was set in an earlier turn, or follows such a delay: it is kept by the time of the answers. */
  readonly isEarlier?: boolean;
  /** `true` if it was scheduled in this turn. */
  readonly isNew?: boolean;
}
