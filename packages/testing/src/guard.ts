/** The promises of guards and stores of tasks, as tests for those that you write. */
export { guardConformance, type GuardConformanceOptions } from './conformance/guard-conformance.ts';
export type { GuardUnderTest } from './conformance/guard-requests.ts';
export { taskStoreConformance, type TaskStoreUnderTest } from './conformance/task-store-conformance.ts';
export type { ConformanceCase } from './conformance/conformance-case.ts';
