const first = 50;
const longest = 1_000;

/**
 * How long to wait before a guard is asked again about a request that is being run elsewhere, in milliseconds. Most
 * turns are short, so the first waits are; a long one shall not keep a guard on a network busy. Spread, so that many
 * that wait do not ask together.
 *
 * @param waits - how often it has been waited for already
 * @param random - in [0, 1); default `Math.random`
 */
export function busyWait(waits: number, random: () => number = Math.random): number {
  const most = Math.min(longest, first * 2 ** waits);
  return most * (0.5 + random() / 2);
}
