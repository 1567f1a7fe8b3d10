import type { ClientNeed } from '@mcp-saga/core';

/** Abilities of a dialect in one turn. The body of a saga does not depend on them. */
export interface DialectCapabilities {
  /**
   * Questions that the client can answer. Default: by the capabilities of the caller; unknown
   * capabilities count as present.
   */
  readonly asks?: readonly ClientNeed[];
  /** Reason why the client cannot be asked although it declared the capability, with a remedy. */
  readonly unasked?: string;
  /** `true` if the result of the tool can ask the model that calls. @default false */
  readonly asksModel?: boolean;
  /**
   * Longest wait for a turn (from 1), in milliseconds. A longer wait throws `ClientCannot('wait')`.
   * Default: unlimited.
   */
  readonly maxWait?: (turn: number) => number;
  /** Longest wait within the request, in milliseconds. Default: `limits.maxHold`. */
  readonly maxHold?: number;
  /** `true` if a longer wait is held for that time, and a token holds the rest. @default false */
  readonly holdsParts?: boolean;
  /**
   * `true` if an abort ends the turn with a new token, for sagas that may have undos. Default: the token
   * before the turn stays valid.
   */
  readonly endsOnAbort?: boolean;
  /**
   * When server steps run. `later`: in a later turn, while questions are asked and time passes.
   * `never`: nothing runs, and the turn only reads the state of the saga. @default 'now'
   */
  readonly effects?: 'now' | 'later' | 'never';
}
