import type { Board } from './clients/flight.ts';
import { Fleet } from './fleet.ts';
import type { ServerProcess } from './server-process.ts';

/**
 * Node flags for measuring single bytes. Compiled code is also on the heap, and would outweigh
 * anything that a saga leaves behind.
 */
export const interpreted: readonly string[] = [
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--no-flush-bytecode',
  '--no-lazy-feedback-allocation',
];

/**
 * Bytes that a server holds for each call in flight, after garbage collection. Compares each of the
 * sizes with the next, and returns the median.
 */
export async function bytesOfEach(
  server: ServerProcess,
  board: Board,
  sizes: readonly number[],
): Promise<number> {
  const fleet = new Fleet(server.url, board);
  const found: number[] = [];
  let before = { size: 0, heap: Number.NaN };
  for (const size of sizes) {
    await fleet.growTo(size);
    const { heap } = await server.memory();
    if (before.size > 0) found.push((heap - before.heap) / (size - before.size));
    before = { size, heap };
  }
  return found.toSorted((one, other) => one - other)[Math.floor(found.length / 2)] ?? Number.NaN;
}
