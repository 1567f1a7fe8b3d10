import { abort, elicit, pivot, saga, step, StepError } from '@mcp-saga/server';
import { z } from 'zod';

/** What the provider was asked to do, in order. */
export const done: string[] = [];
const provider = {
  reserve: (): void => void done.push('reserve'),
  release: (): void => void done.push('release'),
  ship: (): void => void done.push('ship'),
  pay: (euros: number): void => {
    if (euros > 1_000) throw new Error('Over the limit of the card.');
    done.push('pay');
  },
};

const Sure = z.object({ sure: z.boolean() });

// #region oneUndo
export const reserve = saga({ name: 'reserve', version: '1' }, function* () {
  yield* step('release', () => undefined, { compensate: () => provider.release() });
  for (const id of ['room', 'car']) yield* step('reserve', () => provider.reserve(), { key: id });
  yield* elicit('sure', { message: 'Keep them?', schema: Sure }); // a refusal releases both
  return 'Reserved.';
});
// #endregion oneUndo

// #region pivot
export const ship = saga({ name: 'ship', version: '1' }, function* () {
  yield* step('reserve', () => provider.reserve(), { compensate: () => provider.release() });
  yield* step('ship', () => provider.ship());
  yield* pivot('shipped'); // a later failure does not release the reservation
  yield* elicit('rating', { message: 'Are you satisfied?', schema: Sure });
  return 'Shipped.';
});
// #endregion pivot

// #region abort
export const hold = saga({ name: 'hold', version: '1' }, function* () {
  yield* step('reserve', () => provider.reserve(), { compensate: () => provider.release() });
  const { sure } = yield* elicit('sure', { message: 'Keep the reservation?', schema: Sure });
  if (!sure) yield* abort('The user did not want the reservation.'); // releases it
  return 'Reserved.';
});
// #endregion abort

// #region abortWithCause
export const pay = saga(
  { name: 'pay', version: '1', input: z.object({ euros: z.number() }) },
  function* ({ euros }) {
    yield* step('reserve', () => provider.reserve(), { compensate: () => provider.release() });
    try {
      yield* step('pay', () => provider.pay(euros));
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      return yield* abort(`The payment failed: ${error.message}`); // the client reads the reason
    }
    return 'Paid.';
  },
);
// #endregion abortWithCause
