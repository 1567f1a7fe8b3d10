import type { Effort, Timing } from '../harness.ts';
import type { Driven, Fleet } from './fleet.ts';
import type { ServerProcess } from './server-process.ts';

/** Drives a server for a while, and returns the time per request. */
export async function timed(
  server: ServerProcess,
  fleet: Fleet,
  { ms, atOnce }: { readonly ms: number; readonly atOnce: number },
): Promise<Timing> {
  const { timing } = await clocked(server, () => fleet.drive(ms, atOnce));
  return timing;
}

/** Drives a server, and returns the time per request, too. */
export async function clocked(
  server: ServerProcess,
  drive: () => Promise<Driven>,
): Promise<Driven & { readonly timing: Timing }> {
  const before = await server.usage();
  const driven = await drive();
  const after = await server.usage();
  const timing = {
    cpu: (after.cpu - before.cpu) / driven.requests,
    wall: (driven.ms * 1000) / driven.requests,
  };
  return { ...driven, timing };
}

/**
 * Sends requests until the compiler is done. After 20,000 requests, the cost of a request hardly
 * falls. The servers take turns: in a process that idles for seconds, V8 drops compiled code.
 */
export async function warmUp(fleets: readonly Fleet[], { warmUpMs }: Effort): Promise<void> {
  const sent = new Map(fleets.map((fleet) => [fleet, 0]));
  await inTurn(fleets, async (fleet) => await fleet.growTo(16));
  while (Math.min(...sent.values()) < warmUpMs * 67) {
    await inTurn(fleets, async (fleet) => {
      const { requests } = await fleet.drive(100);
      sent.set(fleet, (sent.get(fleet) ?? 0) + requests);
    });
  }
}

/** Runs a function for each item in sequence, because concurrent runs would distort each other. */
export async function inTurn<T>(
  items: readonly T[],
  run: (item: T) => Promise<void>,
): Promise<void> {
  for (const item of items) {
    await run(item);
  }
}
