import { vi } from 'vitest';

type Methods = { [name: string]: (...given: never[]) => unknown };

/**
 * Methods that visit the members of an array. `shift` is excluded, because queues use it to take
 * one member.
 */
const visiting = [
  'concat',
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flatMap',
  'forEach',
  'includes',
  'indexOf',
  'map',
  'reduce',
  'slice',
  'some',
  'sort',
  'toSorted',
] as const;

/**
 * Counts the visited members of arrays, maps, and sets while `work` runs. This is an upper bound: a
 * visit of an array counts all its members. Unlike a time, the count is the same on every machine.
 */
export async function visitsIn(work: () => Promise<unknown>): Promise<number> {
  let visits = 0;
  const array = Array.prototype as unknown as Methods;
  const originals = visiting.map((name) => [name, array[name] as Methods[string]] as const);
  const iterators = [new Map().values(), new Set().values()].map(
    (one) => Object.getPrototypeOf(one) as { next: () => unknown },
  );
  const spies = iterators.map((prototype) => vi.spyOn(prototype, 'next'));
  for (const [name, original] of originals) {
    array[name] = function (this: readonly unknown[], ...given: never[]) {
      visits += this.length;
      return original.apply(this, given);
    };
  }
  try {
    await work();
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, visits);
  } finally {
    for (const [name, original] of originals) array[name] = original;
    for (const spy of spies) spy.mockRestore();
  }
}
