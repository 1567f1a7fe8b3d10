import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

/** A shop that still sells what it lists, or refuses to return it. */
export const shop = {
  items: new Map<string, readonly Item[]>(),
  returned: [] as string[],
  returnItem: (order: string, item: string, _idempotencyKey: string): void => {
    if (!shop.items.get(order)?.some(({ id }) => id === item)) throw new Error('Already returned.');
    shop.returned.push(item);
  },
};

/** A list of customers, which is read in pages of ten. */
export const crm = {
  customers: [] as Item[],
  page: (page: number): { readonly found: readonly Item[]; readonly isLast: boolean } => ({
    found: crm.customers.slice(page * 10, page * 10 + 10),
    isLast: page * 10 + 10 >= crm.customers.length,
  }),
};

// #region fixed
const Parcel = z.object({
  speed: z.enum(['standard', 'express']),
  extras: z
    .array(z.enum(['card', 'ribbon', 'wrapping']))
    .max(2)
    .default([]),
});

export const sendParcel = saga({ name: 'send_parcel', version: '1' }, function* () {
  const { speed, extras } = yield* elicit('parcel', { message: 'How to send it?', schema: Parcel });
  return `Sent by ${speed} mail, with ${extras.join(' and ') || 'no extras'}.`;
});
// #endregion fixed

// #region titles
interface Item {
  readonly id: string;
  readonly name: string;
}

/** A field that shows the names, and returns the ID of the chosen item. */
const oneOf = (items: readonly Item[]) =>
  z.union(
    items.map(({ id, name }) => z.literal(id).meta({ title: name })),
    'choose from the list',
  );
// #endregion titles

// #region step
export const returnItem = saga(
  { name: 'return_item', version: '1', input: z.object({ order: z.string() }) },
  function* ({ order }) {
    const items = yield* step('items', () => shop.items.get(order) ?? []);
    if (items.length === 0) return 'Order has no items.';
    const schema = z.object({ item: oneOf(items) });
    const { item } = yield* elicit('item', { message: 'Which item?', schema });
    // The list may be an hour old: the shop checks the item once more.
    yield* step('return', ({ idempotencyKey }) => shop.returnItem(order, item, idempotencyKey));
    return `Returned ${item}.`;
  },
);
// #endregion step

/** What the page warns of: it reads the list in the body, and so in each turn. */
export const returnWithoutStep = saga(
  { name: 'return_without_step', version: '1', input: z.object({ order: z.string() }) },
  function* ({ order }) {
    const schema = z.object({ item: oneOf(shop.items.get(order) ?? []) });
    const { item } = yield* elicit('item', { message: 'Which item?', schema });
    return `Returned ${item}.`;
  },
);

// #region pages
export const pickCustomer = saga({ name: 'pick_customer', version: '1' }, function* () {
  for (let page = 0; ; page += 1) {
    const { found, isLast } = yield* step('page', () => crm.page(page), { key: `${page}` });
    const more = isLast ? [] : [{ id: 'more', name: 'Show more' }];
    const schema = z.object({ customer: oneOf([...found, ...more]) });
    const { customer } = yield* elicit('customer', { message: 'Which customer?', schema });
    if (customer !== 'more') return `Picked ${customer}.`;
  }
});
// #endregion pages
