import type { Clock } from '../runtime/clock.ts';
import type { CallToolResult, ToolContent } from './content.ts';
import type { RequestOptions } from './mcp-client.ts';
import type { SagaStep, CompletedStep } from './wire.ts';

/**
 * A suspended saga as JSON. It holds everything that the saga is: whoever has it, and may use the server as the same
 * user, can continue it, and it shows what the user answered. Keep it as you would keep a session cookie.
 */
export interface KeptSaga {
  readonly format: 'mcp-saga/client@1';
  /** The tool. */
  readonly name: string;
  readonly sagaToken: string;
  readonly turn: number;
  readonly steps: readonly SagaStep[];
  readonly completedSteps: readonly CompletedStep[];
  readonly content?: readonly ToolContent[];
  /** Not to be resumed before, in milliseconds since 1970. */
  readonly retryAt?: number;
}

/** What a turn of a saga came to. */
export type ClientTurn =
  | { readonly status: 'suspended'; readonly saga: SuspendedSaga }
  | { readonly status: 'completed'; readonly result: CallToolResult };

/** How to make one turn. */
export interface TurnOptions {
  /** Stops waiting; the saga stays as it was before the turn and can be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Passed to the SDK's `client.request`: timeouts, progress, headers. */
  readonly requestOptions?: RequestOptions | undefined;
  /** For tests; default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/** How to make a turn that brings answers. */
export interface ResumeOptions extends TurnOptions {
  /** Answers to send: `all` of the saga, as in the protocol, or `only` those of this turn, which is shorter. Default `all`. */
  readonly news?: 'all' | 'only' | undefined;
}

/**
 * A saga that waits for its client. A value: answering or resuming it gives another and changes nothing here, so it
 * can be kept with `JSON.stringify` at any time and resumed again if a request is lost. Logging it prints neither the
 * token nor the answers.
 */
export interface SuspendedSaga {
  /** The tool. */
  readonly name: string;
  /** How many turns it has taken to come here, from 1. */
  readonly turn: number;
  /** What the server waits for; nothing when it only wants to be resumed later. */
  readonly steps: readonly SagaStep[];
  /** For the user meanwhile. */
  readonly content: readonly ToolContent[] | undefined;
  /** With no steps: not to be resumed before, in milliseconds since 1970. */
  readonly retryAt: number | undefined;
  /** Size of the token. */
  readonly tokenBytes: number;
  /** The answers so far, the oldest first; those to steps of this turn are not sent yet. */
  readonly answers: readonly CompletedStep[];
  /** The steps of this turn that have no answer yet. */
  readonly pending: readonly SagaStep[];
  /** Returns the saga with answers to this turn, not sent yet. Replaces earlier answers. Throws TypeError for an invalid one. */
  withAnswers(answers: readonly CompletedStep[]): SuspendedSaga;
  /**
   * Sends the answers and takes the next turn. Steps without an answer are asked again by the server. Does not wait
   * for `retryAt`.
   *
   * @throws TypeError as `withAnswers` does; SagaClientError, which carries the saga with these answers
   */
  resume(answers?: readonly CompletedStep[], options?: ResumeOptions): Promise<ClientTurn>;
  /** For `JSON.stringify`: everything needed to continue, the token and the answers included. */
  toJSON(): KeptSaga;
}
