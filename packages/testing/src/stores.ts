/**
 * Tests of the promises of stores and queues, for your own implementations.
 */
export { storeConformance, type StoreConformanceOptions } from './conformance/store-conformance.ts';
export type { StoreUnderTest } from './conformance/store-under-test.ts';
export { queueConformance } from './conformance/queue-conformance.ts';
export type { ConsumerUnderTest, QueueUnderTest } from './conformance/queue-deliveries.ts';
export type { ConformanceCase } from './conformance/conformance-case.ts';
