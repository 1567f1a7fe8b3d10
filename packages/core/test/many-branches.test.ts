import { describe, expect, it, vi } from 'vitest';
import { all, step } from '../src/index.ts';
import { accepted, completed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';
import { visitsIn } from '../../../test/support/count-visits.ts';

/**
 * Counts the members of maps and sets that are visited while so many steps run beside each other.
 */
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
  return await visitsIn(async () => {
    expect(completed(await start(program, {}, world, { signal }))).toBe('done');
  });
}

/**
 * Counts the members of maps and sets that are visited while a turn takes the answers to so many
 * questions.
 */
async function visitsOfAnswers(questions: number): Promise<number> {
  const ids = Array.from({ length: questions }, (_, index) => `q${index}`);
  const program = sagaOf(function* () {
    yield* all(ids.map((id) => ask(id)));
    return 'done';
  });
  const { state } = suspended(await start(program));
  const answers = Object.fromEntries(ids.map((id) => [id, accepted({ word: 'w' })]));
  return await visitsIn(async () => {
    expect(completed(await turn(program, state, answers))).toBe('done');
  });
}

describe('many parallel steps', () => {
  it('[U1] take work that grows linearly with their number', async () => {
    const few = await visitsOf(50);
    expect(await visitsOf(200)).toBeLessThan(5 * few);
  });

  it('[U1] accept answers to many questions at once with work that grows linearly', async () => {
    const few = await visitsOfAnswers(50);
    expect(await visitsOfAnswers(200)).toBeLessThan(5 * few);
  });

  it('[U1] have one listener for the abort of their request', async () => {
    const { signal } = new AbortController();
    const listen = vi.spyOn(signal, 'addEventListener');
    await visitsOf(50, signal);
    // The turn has a listener of its own.
    expect(listen).toHaveBeenCalledTimes(2);
  });
});
