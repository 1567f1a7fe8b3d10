import type { ClientNeed } from '@mcp-saga/core';

/** What a dialect can do for a saga in one turn: a saga itself never has to know. (W2) */
export interface DialectTraits {
  /** What the client can be asked for. Default: what the caller's capabilities say; unknown is not lacking. */
  readonly asks?: readonly ClientNeed[];
  /** Reason why the client cannot be asked, whatever it declared, and the remedy: a clause with its sentences. */
  readonly unasked?: string;
  /** Whether the model that calls the tool can be asked: questions stand in the tool's result. Default false. (T14) */
  readonly asksModel?: boolean;
  /** Longest wait in a turn (from 1), in milliseconds; a longer wait is `ClientCannot('wait')`. Default: no limit. */
  readonly maxWait?: (turn: number) => number;
  /** How long a wait is held in the request, in milliseconds. Default: the host's `limits.maxHoldMs`. */
  readonly maxHold?: number;
  /** Whether a wait that is longer than that is held as long, and the rest of it becomes a token. Default false. */
  readonly holdsParts?: boolean;
  /** Whether the client gets a token after each server step. Default false. */
  readonly checkpointAfterStep?: boolean;
  /**
   * Whether server steps wait for a later turn, while questions are asked and the clock goes on. Default false. (W7)
   */
  readonly defersEffects?: boolean;
  /** `true`: an abort ends the turn between two steps, with a new token, in sagas with `forks`. Default: its token stays good. */
  readonly endsOnAbort?: boolean;
  /** `true` if the client declared resumable requests: `requests/resume` takes the token of this turn. Default false. */
  readonly isResumable?: boolean;
  /** JSON-RPC ID of the request that declared them: `requests/resume` takes the token under this ID only. */
  readonly requestId?: string | number;
  /** Whether anything may run here. Default true; false only looks how far a saga is. (W7) */
  readonly runs?: boolean;
}
