/**
 * Types for your own stores and queues. The suites of `@mcp-saga/testing/stores` test an
 * implementation.
 * @module
 */
export { skewMs } from '@mcp-saga/seal';
export type { Awaitable, Delivery, OutsideUser } from '@mcp-saga/core';
export type {
  Appended,
  AppendOptions,
  Charge,
  Entry,
  EntryKey,
  EntryValue,
  ListedValue,
  SagaStore,
  StoredList,
  WriteOptions,
  Written,
} from './model/saga-store.ts';
export type { WebhookCheck } from './model/host-options.ts';
export type {
  DeliveryResult,
  QueueConsumer,
  QueueMessage,
  SagaQueue,
} from './model/queue-types.ts';
