/**
 * Types for your own stores, task stores, mailboxes, and queues, and the guard on any store. The
 * suites of `@mcp-saga/testing/guard` test an implementation.
 * @module
 */
export { skewMs } from '@mcp-saga/seal';
export type { Awaitable, Delivery, OutsideUser } from '@mcp-saga/core';
export { storeGuard } from './guard/store-guard.ts';
export { storeTasks } from './store/store-tasks.ts';
export type {
  Charge,
  Entry,
  EntryKey,
  EntryStore,
  EntryValue,
  WriteOptions,
  Written,
} from './model/entry-store.ts';
export type { Fence, GuardClaim, GuardVerdict, SagaGuard } from './model/guard.ts';
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
