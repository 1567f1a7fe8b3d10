/** Returns a pseudo-random number in [0, 1). The same seed gives the same sequence. */
export type Draw = () => number;

/** Creates a pseudo-random generator (Mulberry32), which is good enough to choose faults. */
export function seeded(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws an integer from `low` to `high`, inclusive. */
export function between(draw: Draw, low: number, high: number): number {
  return low + Math.floor(draw() * (high - low + 1));
}

/** Draws a member of a list. */
export function oneOf<T>(draw: Draw, list: readonly T[]): T {
  const chosen = list[Math.floor(draw() * list.length)];
  if (chosen === undefined) throw new RangeError('There is nothing to choose from.');
  return chosen;
}

/** Hashes a text to a number from 0 to 2³² - 1 (FNV-1a). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
