import type { Effort, Timing } from '../harness.ts';
import type { Fleet } from './fleet.ts';
import type { ServerProcess } from './server-process.ts';

/** Drives a server for a while, and returns the time per request. */
export async function timed(
  server: ServerProcess,
  fleet: Fleet,
  { ms, atOnce }: { readonly ms: number; readonly atOnce: number },
): Promise<Timing> {
  const before = await server.usage();
  const driven = await fleet.drive(ms, atOnce);
  const after = await server.usage();
  return { cpu: (after.cpu - before.cpu) / driven.requests, wall: (driven.ms * 1000) / driven.requests };
}

/** Sends requests until the compiler is done. After 8,000 requests, the cost of a request no longer falls. */
export async function warmUp(fleet: Fleet, { warmUpMs }: Effort): Promise<void> {
  await fleet.growTo(16);
  for (let requests = 0; requests < warmUpMs * 27;) {
    // oxlint-disable-next-line no-await-in-loop -- until the server is warm
    requests += (await fleet.drive(100)).requests;
  }
}

/** Runs a function for each item in sequence, because concurrent runs would distort each other. */
export async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) {
    // oxlint-disable-next-line no-await-in-loop -- sequential by design
    await run(item);
  }
}
