/**
 * Types for your own guards, task stores, mailboxes, and queues. The suites of
 * `@mcp-saga/testing/guard` test an implementation.
 * @module
 */
export type { Awaitable, Delivery, OutsideUser } from '@mcp-saga/core';
export type { Fence, GuardClaim, GuardOwner, GuardVerdict, SagaGuard } from './model/guard.ts';
export type { WebhookCheck } from './model/host-options.ts';
export type { Mailbox, PutBounds, PutResult, StoredAnswer } from './model/mailbox-types.ts';
export type {
  DeliveryResult,
  QueueConsumer,
  QueueMessage,
  SagaQueue,
} from './model/queue-types.ts';
export type { SagaStore } from './model/store-types.ts';
export type { StoredTask, TaskStore } from './model/task-store-types.ts';
