import type { ClientNeed } from '../values/errors.ts';

/** The part of a question that a host needs to choose its route. */
export interface Question {
  /** Capability that a client needs. */
  readonly need: ClientNeed;
  /** Author's choice of the answerer: only the client, or also the model that calls the tool. */
  readonly accept: 'client' | 'model' | undefined;
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
