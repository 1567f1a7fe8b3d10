import type { Answerer } from './answerer.ts';
import type { ClientNeed } from '../values/errors.ts';

/** The part of a question that a host needs to choose its route. */
export interface Question {
  /** Capability that a client needs. */
  readonly need: ClientNeed;
  /** Who may answer, in this order. Undefined: as the saga says. */
  readonly answeredBy: readonly Answerer[] | undefined;
  /** `true` if the author gives an answer for clients that cannot be asked. */
  readonly hasFallback: boolean;
  /**
   * `true` if the client answered "method not found" (-32601), despite its declared capabilities.
   */
  readonly isUnsupported?: true;
}

/**
 * Source of the answer in a turn: the client, a fallback, or the host's model; `cannot`:
 * `ClientCannot` at the step.
 */
export type Route = 'ask' | 'fallback' | 'host' | 'cannot';
