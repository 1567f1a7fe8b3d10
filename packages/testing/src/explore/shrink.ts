import type { TestSaga } from '../run/test-saga.ts';

// A run of a few steps takes about a millisecond. Bounds the time for sagas of hundreds of steps.
const maxTries = 64;

/** A script with its finding. */
export type Shrunk<T> = Readonly<{ script: TestSaga; found: T }>;

/**
 * Drops unneeded lines of a failing script, in a limited number of runs. `again` returns the
 * finding of a smaller script.
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

/** `true` if the first lines of two messages are equal, except for numbers. */
export function isSameMessage(one: string, other: string): boolean {
  return gist(one) === gist(other);
}

/** First line of a message, without numbers. */
export const gist = (message: string): string =>
  (message.split('\n', 1)[0] ?? '').replaceAll(/\d+/g, '#');
