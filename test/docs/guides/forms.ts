import { elicit, saga, step, withJsonSchema } from '@mcp-saga/server';
import { z } from 'zod';
import * as mini from 'zod/mini';

/** Free tables by day. */
export const tables: Map<string, string[]> = new Map();

// #region choices
export const bookTable = saga(
  { name: 'book_table', version: '1', input: z.object({ day: z.iso.date() }) },
  function* ({ day }) {
    const free = yield* step('free', () => tables.get(day) ?? []);
    if (free.length === 0) return 'No table is free.';
    const schema = z.object({ table: z.enum(free) });
    const { table } = yield* elicit('table', { message: 'Which table?', schema });
    return `Table ${table} is yours.`;
  },
);
// #endregion choices

// #region titles
const Order = z.object({
  size: z.union([
    z.literal('s').meta({ title: 'Small, 8 EUR' }),
    z.literal('l').meta({ title: 'Large, 12 EUR' }),
  ]),
  toppings: z
    .array(z.enum(['olives', 'basil']))
    .max(2)
    .default([]),
  note: z.string().max(200).optional().meta({ title: 'Note for the kitchen' }),
});

export const pizza = saga({ name: 'pizza', version: '1' }, function* () {
  const { size, toppings } = yield* elicit('order', { message: 'Your order?', schema: Order });
  return `${size} with ${toppings.join(' and ') || 'nothing'}`;
});
// #endregion titles

// #region mini
const Sure = withJsonSchema(mini.object({ sure: mini.boolean() }), mini.toJSONSchema);
// #endregion mini

export const confirm = saga({ name: 'confirm', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
  return sure ? 'Yes.' : 'No.';
});
