import type { Awaitable } from '@mcp-saga/core';

/** Message that continues a saga without its client. */
export interface QueueMessage {
  /**
   * ID of the saga. A queue may keep only one message for each ID: the latest one with the highest
   * `turn`.
   */
  readonly sagaId: string;
  readonly turn: number;
  /** Sealed state of the saga. Only hosts with its key can open it. */
  readonly token: string;
}

/**
 * Result of `host.deliver`. In each case, the queue may drop the message:
 *
 * - `ended`: the saga has ended
 * - `waiting`: the saga waits, and the queue has a message for `at`
 * - `outdated`: the saga has continued, and the message of its newest turn continues it
 */
export interface DeliveryResult {
  readonly status: 'ended' | 'waiting' | 'outdated';
  readonly sagaId: string;
  /** Time of the next delivery of a waiting saga, in milliseconds since the epoch. */
  readonly at?: number;
}

/** What a queue needs of a host to deliver messages in this process. */
export interface QueueConsumer {
  /** Delivers a message. If the promise rejects, deliver the message again later. */
  readonly deliver: (message: QueueMessage) => Promise<DeliveryResult>;
  /** Returns the time of the host, in milliseconds since the epoch. */
  readonly clock: () => number;
  /**
   * Resolves after `ms` milliseconds, or when `signal` aborts: `testing.sleep` of the host.
   * Undefined: use a timer.
   */
  readonly sleep: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Reports an error to the operator. */
  readonly onError: (error: unknown) => void;
  /** Warns the operator, outside of development and tests. */
  readonly onWarning: (message: string) => void;
}

/**
 * Delayed queue that wakes sagas: it passes each message to `host.deliver` at or after its time, at
 * least once. A queue may deliver late, twice, and out of order.
 */
export interface SagaQueue {
  /** Stores a message. @param at - earliest time of delivery, in milliseconds since the epoch */
  send(message: QueueMessage, at: number): Awaitable<void>;
  /**
   * Removes the message of a saga that has ended. Optional: a host ignores the message of an ended
   * saga.
   */
  remove?(sagaId: string): Awaitable<void>;
  /**
   * Delivers the message of a saga now, before its time. A wake is pending until a later delivery
   * of the saga begins: if a message of the saga is being delivered, or a newer message replaces it
   * first, the next message is delivered immediately. Optional: without it, the message is
   * delivered at its time.
   */
  wake?(sagaId: string): Awaitable<void>;
  /**
   * Starts to deliver messages in this process. Called when a host is created with this queue, for
   * queues that are polled or run in memory. Optional: without it, another part of the program
   * calls `host.deliver`.
   */
  start?(consumer: QueueConsumer): void;
  /**
   * Verifies an HTTP request of the queue, and reads its message. Returns undefined if the
   * signature is missing or wrong. With it, `serveSagas` serves `POST /saga/wake`.
   */
  receive?(request: Request): Awaitable<QueueMessage | undefined>;
}
