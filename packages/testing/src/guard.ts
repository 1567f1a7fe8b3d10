/**
 * Tests of the promises of stores, guards, mailboxes, and queues, for your own implementations.
 */
export {
  entryStoreConformance,
  type EntryStoreConformanceOptions,
  type EntryStoreUnderTest,
} from './conformance/entry-store-conformance.ts';
export { guardConformance, type GuardConformanceOptions } from './conformance/guard-conformance.ts';
export type { GuardUnderTest } from './conformance/guard-requests.ts';
export {
  taskStoreConformance,
  type TaskStoreUnderTest,
} from './conformance/task-store-conformance.ts';
export { queueConformance } from './conformance/queue-conformance.ts';
export type { ConsumerUnderTest, QueueUnderTest } from './conformance/queue-deliveries.ts';
export { mailboxConformance, type MailboxUnderTest } from './conformance/mailbox-conformance.ts';
export type { ConformanceCase } from './conformance/conformance-case.ts';
