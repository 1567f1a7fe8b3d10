import type { LiveActor } from './live-actor.ts';

/** An event that an actor gets at a time. */
export interface Timer {
  readonly source: LiveActor;
  readonly target: LiveActor;
  readonly event: object;
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** By how much `at` is later than it is kept, in a turn that was begun that long ago (ms). Default 0. */
  readonly late?: number;
  /** `true` if it was scheduled in this turn. */
  readonly isNew?: boolean;
}
