/** Store and queue in Cloudflare Durable Objects, for saga hosts on Workers. */
export { alarmQueue } from './alarm-queue.ts';
export { durableObjectStore } from './durable-object-store.ts';
export type { DurableObjectNamespaceLike, DurableObjectOptions } from './ask-object.ts';
export type { DurableObjectStateLike, DurableObjectStorageLike } from './object-storage.ts';
export { createSagaObject, type SagaObject, type SagaObjectOptions } from './saga-object.ts';
