import { saga, step, type Steps } from '@mcp-saga/server';
import { z } from 'zod';

interface Item {
  readonly id: string;
}

const parcels: string[] = [];
const api = {
  ship: (id: string, { key }: { readonly key: string }) => parcels.push(`${id} ${key}`),
};

// #region loop
function* shipEach(items: readonly Item[]): Steps<void> {
  for (const item of items) {
    const options = { key: item.id, input: item.id };
    yield* step('ship', ({ input, idempotencyKey: key }) => api.ship(input, { key }), options);
  }
}
// #endregion loop

/** Ships items in a loop. Each run of the step has a key. */
export const shipAll = saga(
  {
    name: 'ship-all',
    version: '1',
    input: z.object({ items: z.array(z.object({ id: z.string() })) }),
  },
  function* ({ items }) {
    yield* shipEach(items);
    return `Shipped ${items.length}.`;
  },
);
