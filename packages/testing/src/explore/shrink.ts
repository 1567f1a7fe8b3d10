import type { TestSaga } from '../run/test-saga.ts';

// A saga of a few steps is run in a millisecond or so; one of hundreds shall not take for ever to be told of.
const maxTries = 64;

/** A script, and what it shows. */
export interface Shrunk<T> {
  readonly script: TestSaga;
  readonly found: T;
}

/**
 * Leaves out of a script what a failure does not need: lines many at a time, then one by one. What is left is the smallest
 * that was found in a bounded number of tries.
 *
 * @param again - what a smaller script shows, where it shows the same; else undefined. What it throws is something else.
 */
export async function shrunk<T>(
  given: Shrunk<T>,
  again: (script: TestSaga) => Promise<T | undefined>,
): Promise<Shrunk<T>> {
  let smallest = given;
  let tries = 0;
  let size = Math.max(1, Math.floor(given.script.rules.length / 2));
  for (; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.script.rules.length && tries < maxTries; tries += 1) {
      const script = smallest.script.without(at, size);
      const found = await again(script).catch(() => undefined);
      if (found === undefined) at += size;
      else smallest = { script, found };
    }
  }
  return smallest;
}

/** Whether two messages tell of the same: their first lines, but for numbers, which may count how often it was tried. */
export function isSameMessage(one: string, other: string): boolean {
  return gist(one) === gist(other);
}

/** What a message is about: its first line, but for numbers. */
export const gist = (message: string): string => (message.split('\n', 1)[0] ?? '').replaceAll(/\d+/g, '#');
