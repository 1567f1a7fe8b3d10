import { checkpoint, continueAs, poll, saga, step, type Saga } from '@mcp-saga/server';
import { z } from 'zod';
import { shop } from './shop.ts';

const From = z.object({
  after: z.int().min(0).default(0).describe('How many orders to leave out'),
});

/** Returns all orders, page by page. */
export const listOrders: Saga<typeof From, undefined> = saga(
  { name: 'list_orders', version: '1', description: 'Lists all orders, page by page', input: From },
  function* ({ after }) {
    const { lines, next } = yield* step('page', ({ signal }) => shop.orders(after, signal), {
      retry: 3,
    });
    const text = lines.join('\n');
    if (next === undefined) return text;
    yield* checkpoint(text);
    // Starts over from the next page: a token holds one page at most.
    return yield* continueAs(listOrders, { after: next });
  },
);

/** Adds a product, and ends when the search finds the product. */
export const addProduct = saga(
  {
    name: 'add_product',
    version: '1',
    description: 'Adds a product, and waits until the search finds it',
    input: z.object({ name: z.string() }),
  },
  function* ({ name }) {
    const { id } = yield* step('add', ({ idempotencyKey, signal }) =>
      shop.add(name, idempotencyKey, signal),
    );
    yield* poll(
      'found',
      async ({ signal }) => ((await shop.search(name, signal)).found ? true : undefined),
      {
        every: 100,
        timeout: '1m',
        report: ({ asked }) => `${id} is added. Searched ${asked} times: not found yet.`,
      },
    );
    return `${id} is added, and the search finds it.`;
  },
);
