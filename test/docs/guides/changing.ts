import { elicit, patched, saga, step, type Steps } from '@mcp-saga/server';
import { z } from 'zod';

const Address = z.object({ address: z.string() });
const Express = z.object({ express: z.boolean() });

function* orderOnce(): Steps<string> {
  const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
  return yield* step('ship', () => `Shipped to ${address}.`);
}

function* orderNow(): Steps<string> {
  const { address } = yield* elicit('address', {
    message: 'Where shall we ship it?',
    schema: Address,
  });
  const { express } = yield* elicit('express', { message: 'By express?', schema: Express });
  return yield* step('ship', () => `Shipped to ${address}${express ? ' by express' : ''}.`);
}

// #region version
export const order1 = saga({ name: 'order', version: '1' }, orderOnce);
export const order = saga(
  { name: 'order', version: '2', previous: [{ saga: order1, until: new Date('2027-01-01') }] },
  orderNow,
);
// #endregion version

// #region patched
export const parcel = saga({ name: 'parcel', version: '1' }, function* () {
  const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
  if (yield* patched('weigh')) yield* step('weigh', () => 'weighed');
  return yield* step('ship', () => `Shipped to ${address}.`);
});
// #endregion patched

// #region rename
export const renamed = saga({ name: 'gift', version: '1' }, function* () {
  const isRenamed = yield* patched('rename-ids');
  const id = isRenamed ? 'destination' : 'address';
  const { address } = yield* elicit(id, { message: 'Where to?', schema: Address });
  const { express } = yield* elicit('express', { message: 'By express?', schema: Express });
  return yield* step(isRenamed ? 'deliver' : 'ship', () => (express ? `${address}, now` : address));
});
// #endregion rename

/** The saga before its patch. */
export const parcelBefore = saga({ name: 'parcel', version: '1' }, orderOnce);

const giftWith = (question: string, work: string) =>
  function* (): Steps<string> {
    const { address } = yield* elicit(question, { message: 'Where to?', schema: Address });
    const { express } = yield* elicit('express', { message: 'By express?', schema: Express });
    return yield* step(work, () => (express ? `${address}, now` : address));
  };

/** The saga before its IDs are renamed. */
export const gift = saga({ name: 'gift', version: '1' }, giftWith('address', 'ship'));

/** The saga with renamed IDs, without `patched`. */
export const renamedAtOnce = saga(
  { name: 'gift', version: '1' },
  giftWith('destination', 'deliver'),
);

/** The saga with renamed IDs as a new version. */
export const renamedVersion = saga(
  { name: 'gift', version: '2', previous: [{ saga: gift }] },
  giftWith('destination', 'deliver'),
);
