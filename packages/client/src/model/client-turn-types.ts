import type { Clock } from '../runtime/clock.ts';
import type { ContentBlock } from '@mcp-saga/core/shared';
import type { CallToolResult } from './tool-result.ts';
import type { RequestOptions } from './mcp-client-types.ts';
import type { SagaStep, CompletedStep } from './wire-types.ts';

/**
 * Suspended saga as JSON, with token and answers. Protect it like a session cookie: anyone who has
 * it, and access to the server as the same user, can continue the saga and read the answers.
 */
export interface KeptSaga {
  readonly format: 'mcp-saga/client@1';
  /** Name of the tool. */
  readonly name: string;
  readonly sagaToken: string;
  readonly turn: number;
  readonly steps: readonly SagaStep[];
  readonly completedSteps: readonly CompletedStep[];
  readonly content?: readonly ContentBlock[];
  /** Earliest time to resume, in milliseconds since the epoch. */
  readonly retryAt?: number;
}

/** Outcome of a turn. */
export type ClientTurn =
  | { readonly status: 'suspended'; readonly saga: SuspendedSaga }
  | { readonly status: 'completed'; readonly result: CallToolResult };

/** Options of a turn. */
export interface TurnOptions {
  /** Aborts the turn. The saga can still be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Options for the SDK's `client.request`: timeouts, progress, headers. */
  readonly requestOptions?: RequestOptions | undefined;
  /** Clock, for tests. @default the clock of the runtime */
  readonly clock?: Clock | undefined;
}

/** Options of a turn with answers. */
export interface ResumeOptions extends TurnOptions {
  /**
   * Answers to send: `all` of the saga, as in the protocol, or `only` the answers of this turn,
   * which is shorter.
   * @default 'all'
   */
  readonly news?: 'all' | 'only' | undefined;
}

/**
 * Saga that waits for its client. Immutable: store it with `JSON.stringify` at any time, and resume
 * it again after a dropped request. Logging the object reveals neither token nor answers.
 */
export interface SuspendedSaga {
  /** Name of the tool. */
  readonly name: string;
  /** Number of turns so far, from 1. */
  readonly turn: number;
  /** Steps of this turn; empty if the server only asks the client to resume later. */
  readonly steps: readonly SagaStep[];
  /** Content for the user meanwhile. */
  readonly content: readonly ContentBlock[] | undefined;
  /** Without steps: earliest time to resume, in milliseconds since the epoch. */
  readonly retryAt: number | undefined;
  /** Size of the token, in bytes. */
  readonly tokenBytes: number;
  /** Answers so far, oldest first. Answers to steps of this turn are not sent yet. */
  readonly answers: readonly CompletedStep[];
  /** Steps of this turn without an answer. */
  readonly pending: readonly SagaStep[];
  /**
   * Returns the saga with answers to this turn, without sending them. Throws TypeError for an
   * invalid answer.
   */
  withAnswers(answers: readonly CompletedStep[]): SuspendedSaga;
  /**
   * Sends the answers and takes the next turn, without waiting for `retryAt`. The server asks steps
   * without an answer again.
   * @throws TypeError as `withAnswers`; SagaClientError with the saga and these answers
   */
  resume(answers?: readonly CompletedStep[], options?: ResumeOptions): Promise<ClientTurn>;
  /** Returns the saga for `JSON.stringify`, with token and answers. */
  toJSON(): KeptSaga;
}
