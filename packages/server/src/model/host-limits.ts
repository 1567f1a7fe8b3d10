import type { Duration } from '@mcp-saga/core';

/** Limits of a host. Each is an option of `limits`; other bounds follow from these. */
export interface HostLimits {
  /**
   * Size of a token, in bytes, which bounds what a saga holds: its arguments have at most as many
   * bytes of JSON, an answer four times as many, and its state sixteen times as many before
   * compression. Its journal has at most an entry for each 6 bytes (10,922), and a turn ten commands
   * for each of them. @default 65_536
   */
  readonly maxTokenBytes: number;
  /**
   * Size of all turns, tasks, and handles that a store keeps for one principal, in bytes. A turn
   * beyond it fails with `guard_full` until some of them expire, and no new task or handle is
   * stored. Cancellation and compensation are never rejected. A single saga, also of an anonymous
   * caller, keeps at most 16 MiB of it, estimated.
   * @default 256 MiB
   */
  readonly maxKeptBytes: number;
  /** Lifetime of each token, rounded up to whole milliseconds. @default '1h' */
  readonly tokenTtl: Duration;
  /**
   * Lifetime of a saga, rounded up to whole milliseconds. All tokens expire by then, except tokens
   * that only continue compensation. A longer `sleep` throws `ClientCannot`.
   * @default '7d'
   */
  readonly maxLifetime: Duration;
  /**
   * Time for server steps in one request. Afterwards, the client gets a token.
   * @default '25s'
   */
  readonly turnBudget: Duration;
  /**
   * Longest wait within a request. A longer wait becomes a token. @default '20s'
   */
  readonly maxHold: Duration;
  /**
   * Time after which a repeated request may take over a turn whose process has died or stands
   * still. A process that lives renews its lease every third of this time. Keep the sum of `lease`
   * and `turnBudget` below the 60 s after which clients of the SDK give up. @default '30s'
   */
  readonly lease: Duration;
  /**
   * Time limit of `onSettled`, and of each call of the queue. Afterwards, the request goes on, and
   * `onError` gets `hook_timeout`. @default '10s'
   */
  readonly hookTimeout: Duration;
}

/** Limits that a host has completed and checked. Times are in milliseconds. */
export interface ResolvedLimits extends Readonly<Record<keyof HostLimits, number>> {
  /** Entries in the journal of one saga. */
  readonly maxJournalEntries: number;
  /** Commands of a body in one turn, or steps of a machine. Replayed commands count. */
  readonly maxCommands: number;
  /** Bytes of the state of a token, before compression. */
  readonly maxInflatedBytes: number;
  /**
   * Bytes of an answer, as JSON. A larger one, or one for which the token has no room, is asked
   * again, with the reason.
   */
  readonly maxAnswerBytes: number;
  /** Estimated bytes of the stored responses and handles of one saga. */
  readonly maxKeptBytesPerSaga: number;
}

/**
 * Rounds after which clients abandon a call: 9 for clients based on rmcp, 10 for the official SDK.
 * A saga with more rounds or longer waits ends the call with a resume token, and the model calls
 * again. The host warns the author before the last round.
 */
export const clientRounds = 9;

/** Answers in one request, repeated answers included. */
export const maxAnswers = 2_000;
