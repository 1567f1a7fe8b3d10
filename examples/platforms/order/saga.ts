import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

const Quantity = z.object({ quantity: z.int().min(1) });
const Sure = z.object({ sure: z.boolean() });

let instance: string | undefined;

/** Returns an ID of this process or isolate. Workers do not allow randomness at import. */
function here(): string {
  instance ??= crypto.randomUUID();
  return instance;
}

/** Asks two questions, and reports the server instance of each step. */
export const order = saga(
  {
    name: 'order',
    version: '1',
    description: 'Orders something, after asking how many and whether that is right',
    input: z.object({ item: z.string() }),
  },
  function* ({ item }) {
    const { quantity } = yield* elicit('quantity', {
      message: `How many ${item}?`,
      schema: Quantity,
    });
    const reserved = yield* step('reserve', () => ({ by: here() }));
    const { sure } = yield* elicit('sure', {
      message: `${quantity} ${item}: order them?`,
      schema: Sure,
    });
    if (!sure) return 'Nothing was ordered.';
    const placed = yield* step('place', ({ services }) => ({
      by: here(),
      from: warehouseIn(services),
    }));
    return `${quantity} ${item} from ${placed.from}: reserved by ${reserved.by}, ordered by ${placed.by}.`;
  },
);

/** Reads the warehouse from the `services` of a step, such as the bindings of a Worker. */
function warehouseIn(services: unknown): string {
  const { WAREHOUSE } = Object(services) as { readonly WAREHOUSE?: string };
  return WAREHOUSE ?? 'stock';
}
