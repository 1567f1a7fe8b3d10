import type { ClientNeed } from '../values/errors.ts';

/** A question of the saga, as far as a host has to know it to say where it goes. */
export interface Question {
  /** What a client must be able to do to be asked. */
  readonly need: ClientNeed;
  /** Who may answer, where the author says so: the client alone, or also the model that calls the tool. (T14) */
  readonly accept: 'client' | 'model' | undefined;
  /** Whether the author says what holds where the client cannot be asked. */
  readonly hasFallback: boolean;
  /** `true` if the client answered "method not found" (-32601), despite its declared capabilities. */
  readonly isUnsupported?: true;
}

/** How a question is answered in a turn: by the client, a fallback, or the host's model; `cannot`: `ClientCannot` at the step. */
export type Route = 'ask' | 'fallback' | 'host' | 'cannot';
