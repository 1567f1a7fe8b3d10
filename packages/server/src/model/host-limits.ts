import type { Limits as SealLimits } from '@mcp-saga/seal';

/** All bounds of a host, in one table. */
export interface HostLimits extends SealLimits {
  /** Entries in the journal of one saga. Default 10,000. */
  readonly maxJournalEntries: number;
  /**
   * Commands that a body may yield in one turn, replayed ones included, or steps of a machine, overdue delays included. Default
   * 100,000.
   */
  readonly maxCommands: number;
  /** Maximum size of the arguments of a call, in bytes of JSON. Larger ones are refused unread. Default `maxTokenBytes`. */
  readonly maxArgumentBytes: number;
  /** Answers in one request, repeated ones included. Default 2,000. */
  readonly maxAnswers: number;
  /** Maximum size of an answer, in bytes of JSON. A larger one is asked again, with the reason. Default four times `maxTokenBytes`. */
  readonly maxAnswerBytes: number;
  /**
   * Bytes of responses that a guard keeps of one saga, as an estimate. A turn beyond is refused with `guard_full` until some have
   * expired, except to cancel or undo. Default 16 MiB.
   */
  readonly maxKeptBytesPerSaga: number;
  /**
   * Bytes that a guard keeps at a time for one principal, over all of its sagas. A turn beyond is refused with `guard_full`
   * until some have expired; to cancel and to undo are never refused. Callers without a principal are not counted. Default 256 MiB.
   */
  readonly maxKeptBytesPerPrincipal: number;
  /**
   * Number of rounds after which clients abandon a call. A saga with more rounds, or with a longer wait than fits into
   * them, ends the call with a resume token, and the model calls again. The host warns the author before the last round.
   * Clients based on rmcp stop after 9 rounds, the official SDK after 10.
   *
   * @default 9
   */
  readonly clientRounds: number;
  /** Lifetime of each token from its own issue, in milliseconds. Fractions are rounded up. Default one hour. */
  readonly tokenTtlMs: number;
  /**
   * Lifetime of a saga from its start to its end, in milliseconds. Tokens expire by then, except tokens that only
   * continue compensation. A `sleep` beyond it is `ClientCannot`. Fractions are rounded up. Default seven days.
   */
  readonly maxLifetimeMs: number;
  /** Time for server steps in one request before the client gets a token, in milliseconds. Default 25 s. */
  readonly turnBudgetMs: number;
  /** Longest wait that is held in a request before it becomes a token, in milliseconds. Default 20 s. */
  readonly maxHoldMs: number;
  /**
   * Time limit of `onSuspended` and `onSettled`, in milliseconds. After that, the request continues without the hook, and
   * `onError` gets `hook_timeout`. Default 10 s.
   */
  readonly hookTimeoutMs: number;
}
