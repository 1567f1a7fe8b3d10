// Logs of hosts that many tests make beside what they are about. Each has no link to the
// documentation, which `expectLogs` would know it by.

/** Of a host with a `memoryStore()`, which forgets the tokens of the process before it. */
export const restartLog = /After a restart, the store refuses older tokens/;

/** Of a host with a `memoryQueue()`. */
export const memoryQueueLog = /memoryQueue\(\) loses its messages/;

/** Of a host without `hooks.onReject` that refuses a token. */
export function rejectionLog(reason: string): RegExp {
  return new RegExp(`A token was rejected: ${reason}\\.`);
}
