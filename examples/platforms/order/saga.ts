import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

const Quantity = z.object({ quantity: z.int().min(1) });
const Sure = z.object({ sure: z.boolean() });

let instance: string | undefined;

/** Which process this is, or which isolate. Drawn when asked for, since Workers allow no randomness at import. */
function here(): string {
  instance ??= crypto.randomUUID();
  return instance;
}

/** Asks twice, and says which instance of the server did what. */
export const order = saga(
  {
    name: 'order',
    version: '1',
    description: 'Orders something, after asking how many and whether that is right',
    input: z.object({ item: z.string() }),
  },
  function* ({ item }) {
    const { quantity } = yield* elicit('quantity', { message: `How many ${item}?`, schema: Quantity });
    const reserved = yield* step('reserve', () => ({ by: here() }));
    const { sure } = yield* elicit('sure', { message: `${quantity} ${item}: order them?`, schema: Sure });
    if (!sure) return 'Nothing was ordered.';
    const placed = yield* step('place', ({ context }) => ({ by: here(), from: warehouseIn(context) }));
    return `${quantity} ${item} from ${placed.from}: reserved by ${reserved.by}, ordered by ${placed.by}.`;
  },
);

/** What a request brings along reaches a step as `context`: a Worker's bindings, say. */
function warehouseIn(context: unknown): string {
  const { WAREHOUSE } = Object(context) as { readonly WAREHOUSE?: string };
  return WAREHOUSE ?? 'stock';
}
