/** Event of a turn. `running`: a step without an end so far. */
export interface SeenEvent {
  /** ID of the step, with `(*)` for a key. */
  readonly id: string;
  /** Kind of the step, such as `elicit`, `step`, or `undo`. */
  readonly kind: string;
  readonly type: 'running' | 'succeeded' | 'failed' | 'answered' | 'passed' | 'told';
  /** Number of the attempt, from 1. */
  readonly attempt?: number;
  /** Kind of error, without a message. */
  readonly errorType?: string;
  /** Start of a step, in milliseconds since the epoch. */
  readonly startedAt?: number;
  /** Duration of a finished step, in milliseconds. */
  readonly durationMs?: number;
  // Only `mcp-saga dev` shows the following facts.
  /** Choice of the user of a form. */
  readonly action?: 'accept' | 'decline' | 'cancel';
  /** Answer, result, message of the saga, or error message. */
  readonly value?: string;
  /** Link to decide an approval, or to send an event. */
  readonly url?: string;
  /** End of the time for answers at the link, in milliseconds since the epoch. */
  readonly deadline?: number;
  /** Decision of an approval, or a received event, with the answers that counted. */
  readonly decision?: SeenDecision;
  /** Idempotency key of a step. */
  readonly key?: string;
}

/** Decision of other people, or event of another system. */
export interface SeenDecision {
  /** ID of the approval or event. */
  readonly id: string;
  readonly outcome: 'approved' | 'denied' | 'timeout' | 'received';
  readonly answers: readonly {
    /** User as the host authenticated them, or `link` for the holder of the link. */
    readonly by: string;
    /** Time of the answer, in milliseconds since the epoch. */
    readonly at: number;
    /** `false` for a denial. Undefined for an event. */
    readonly approved?: boolean;
    /** Fields of the form, or the event; undefined without fields. */
    readonly value?: string;
  }[];
}

/** Turn that the process runs or ran. */
export interface SeenTurn {
  /** Number of the turn, from 1. */
  readonly turn: number;
  readonly action: 'start' | 'resume' | 'cancel' | 'repeat';
  /** `rejected`: the request failed, and the token before it stays valid. */
  readonly status: 'running' | 'suspended' | 'completed' | 'failed' | 'rejected';
  /** Start of the turn, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Duration of a finished turn, in milliseconds. */
  readonly durationMs?: number;
  readonly events: readonly SeenEvent[];
  /** Open questions. */
  readonly asked: readonly { readonly stepId: string; readonly type: string }[];
  /** Time until a turn without questions continues, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Size of the new token, in bytes; 0 without a token. */
  readonly tokenBytes: number;
  /** Expiry of the new token, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /**
   * Kind of error of a failed or rejected turn. `process_killed`: the process was killed while the
   * turn ran.
   */
  readonly errorType?: string;
  /** Uncompensated steps. */
  readonly uncompensated?: readonly string[];
  // Only `mcp-saga dev` shows the following facts.
  /** Arguments of the call, as JSON. */
  readonly args?: string;
  /** Messages of the open questions, in the order of `asked`. */
  readonly messages?: readonly string[];
  /** Result of the saga. */
  readonly result?: string;
  /** Message of the error. */
  readonly error?: string;
  /** Client of the request, or `queue`. Only `mcp-saga dev` knows it. */
  readonly client?: string;
  /** ID of the request, chosen by the page that sent it. */
  readonly request?: string;
  /** ID of the process that ran the turn, if another one takes its place after a kill. */
  readonly process?: number;
}

/** Saga that the process has seen. */
export interface SeenSaga {
  readonly sagaId: string;
  readonly saga: string;
  readonly version: string;
  /** Method of MCP that started the saga. */
  readonly method: string;
  readonly client?: string;
  /** ID of the first request, chosen by the page that sent it. */
  readonly request?: string;
  /** Start of the first turn that the process has seen, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Number and status of the newest turn. */
  readonly turn: number;
  readonly status: SeenTurn['status'];
}

/** Token that the host rejected. */
export interface SeenRejection {
  readonly reason: string;
  readonly request?: string;
}

/** Facts that the page shows. */
export interface StudioState {
  /** Higher after each change. */
  readonly revision: number;
  /** Sagas, newest first. */
  readonly seen: readonly SeenSaga[];
  /** Newest rejected tokens, newest first. */
  readonly rejections: readonly SeenRejection[];
  /** Turns of the requested saga, oldest first. */
  readonly turns: readonly SeenTurn[];
  /** Path of the MCP endpoint. Undefined: the page is read-only. */
  readonly mcp?: string;
  /** Name of the server, with `mcp` only. */
  readonly name?: string;
  /**
   * Time at which the queue of `mcp-saga dev` continues the requested saga, in milliseconds since
   * the epoch. Undefined: no message is in the queue.
   */
  readonly continuesAt?: number;
  /** `true` if the server has a queue of its own, whose messages nobody here sees. */
  readonly hasOwnQueue?: boolean;
  /** Process that serves, if another one takes its place after a kill. */
  readonly process?: {
    readonly id: number;
    /** ID of the killed process before it. */
    readonly replaced?: number;
  };
  /** Number of changes of the code, with `mcp` only. */
  readonly reloads?: number;
  /** Why changed code is not served, with `mcp` only. */
  readonly problem?: string | undefined;
  /** Clients of the process, with `mcp` only. */
  readonly clients?: readonly {
    /** Name and version. */
    readonly name: string;
    readonly mcp: string;
    /** Declared capabilities: `elicitation.form`, `sampling`. */
    readonly supports: readonly string[];
  }[];
}

/** Client that has sent requests. */
export type SeenClient = NonNullable<StudioState['clients']>[number];
