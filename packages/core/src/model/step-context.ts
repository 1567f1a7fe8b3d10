/** Context that the code of a step receives. */
export interface StepGiven {
  /** Services of the process. */
  readonly services: unknown;
  /** User of the request; undefined without one. */
  readonly user: unknown;
  readonly signal: AbortSignal;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly input?: unknown;
  /** Undefined for a poll, which has no effect. */
  readonly idempotencyKey?: string;
  /** For an undo: idempotency key of the undone step. */
  readonly stepKey?: string;
  /**
   * For a poll for answers: time at which the poll ends without an answer (ms since the epoch).
   */
  readonly endsAt?: number;
  /** For a delivery: runs in place of the function of the author, for tests. */
  readonly standIn?: (delivery: object) => unknown;
}

/**
 * Work of the engine around an approval or an event. `delivery` sends a link to a person, and
 * `registration` gives a URL to another system: both call a function of the author. `answers` calls
 * none.
 */
export type OutsideWork = 'delivery' | 'registration' | 'answers';

/** One call of an author's code. */
export interface StepCall {
  /** `fallback`: answers a question instead of the client. */
  readonly kind: 'step' | 'poll' | 'fallback';
  readonly path: string;
  /** For an undo: path of the undone step, followed by the path of the undo's own step, if any. */
  readonly undoes: string | undefined;
  /** Set for code of the engine around an approval or an event. */
  readonly outside?: OutsideWork | undefined;
  readonly step: StepGiven;
  readonly run: (step: StepGiven) => unknown;
}
