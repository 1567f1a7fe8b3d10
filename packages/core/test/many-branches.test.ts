import { describe, expect, it, vi } from 'vitest';
import { all, step } from '../src/index.ts';
import { completed, start } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

type Iterators = { next: () => unknown };

/** Counts the members of maps and sets that are visited while so many steps run beside each other. */
async function visitsOf(steps: number, signal = new AbortController().signal): Promise<number> {
  const world = new World();
  const program = sagaOf(function* () {
    yield* all(
      Array.from({ length: steps }, (_, index) =>
        step('s', async () => await world.gate(), { key: `k${index}`, keep: false }),
      ),
    );
    return 'done';
  });
  const prototypes = [new Map().values(), new Set().values()].map(
    (one) => Object.getPrototypeOf(one) as Iterators,
  );
  const spies = prototypes.map((prototype) => vi.spyOn(prototype, 'next'));
  try {
    expect(completed(await start(program, {}, world, { signal }))).toBe('done');
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('many steps beside each other', () => {
  it('[U1] take a number of visits that grows with the number of steps, not with its square', async () => {
    const few = await visitsOf(50);
    expect(await visitsOf(200)).toBeLessThan(5 * few);
  });

  it('[U1] have one listener for the abort of their request', async () => {
    const { signal } = new AbortController();
    const listen = vi.spyOn(signal, 'addEventListener');
    await visitsOf(50, signal);
    // The turn has a listener of its own.
    expect(listen).toHaveBeenCalledTimes(2);
  });
});
