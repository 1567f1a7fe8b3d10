import { checkpoint, continueAs, elicit, saga, step, type Saga } from '@mcp-saga/server';
import { z } from 'zod';

const orders = ['order 1', 'order 2', 'order 3'];
const shop = {
  list: async (
    after: number,
  ): Promise<{ readonly lines: string[]; readonly next: number | undefined }> => ({
    lines: orders.slice(after, after + 2),
    next: after + 2 < orders.length ? after + 2 : undefined,
  }),
};

// #region tool
const From = z.object({ after: z.int().min(0).default(0) });

export const listOrders: Saga<typeof From, undefined> = saga(
  { name: 'list_orders', version: '1', description: 'Lists all orders, page by page', input: From },
  function* ({ after }) {
    const { lines, next } = yield* step('page', () => shop.list(after), { reads: true, retry: 3 });
    const page = lines.join('\n');
    if (next === undefined) return page;
    yield* checkpoint(page);
    return yield* continueAs(listOrders, { after: next });
  },
);
// #endregion tool

// #region ask
const More = z.object({ more: z.boolean() });

export const browseOrders: Saga<typeof From, undefined> = saga(
  {
    name: 'browse_orders',
    version: '1',
    description: 'Shows orders while the user wants more',
    input: From,
  },
  function* ({ after }) {
    const { lines, next } = yield* step('page', () => shop.list(after), { reads: true, retry: 3 });
    if (next === undefined) return lines.join('\n');
    const answer = yield* elicit.outcome('more', {
      message: `${lines.join('\n')}\n\nMore?`,
      schema: More,
    });
    if (answer.action !== 'accept' || !answer.content.more) return 'Stopped.';
    return yield* continueAs(browseOrders, { after: next });
  },
);
// #endregion ask
