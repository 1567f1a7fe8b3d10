import { continueAs, elicit, patched, saga, step, type Saga } from '@mcp-saga/server';
import { z } from 'zod';

const Address = z.object({ address: z.string() });

// #region patched
export const order = saga({ name: 'order', version: '1' }, function* () {
  const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
  if (yield* patched('credit-check')) yield* step('check', () => 'solvent');
  return yield* step('ship', () => `Shipped to ${address}.`);
});
// #endregion patched

// #region continueAs
const Guess = z.object({ guess: z.int() });
const Game = z.object({ round: z.int().default(1) });

export const play: Saga<typeof Game, undefined> = saga(
  { name: 'play', version: '1', input: Game },
  function* ({ round }) {
    const { guess } = yield* elicit('guess', {
      message: `Round ${round}: your guess?`,
      schema: Guess,
    });
    if (guess === 7) return `Found in round ${round}.`;
    if (round === 3) return 'Not found.';
    return yield* continueAs(play, { round: round + 1 });
  },
);
// #endregion continueAs
