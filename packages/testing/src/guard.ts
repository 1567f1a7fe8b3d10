/** Tests of the promises of guards, stores of tasks, and queues, for your own implementations. */
/**
 * Tests of the promises of guards, stores of tasks, and mailboxes, for your own implementations.
 */
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
