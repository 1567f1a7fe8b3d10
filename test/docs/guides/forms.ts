import { elicit, saga, withJsonSchema } from '@mcp-saga/server';
import { z } from 'zod';
import * as mini from 'zod/mini';

// #region fields
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
// #endregion fields

// #region mini
const Sure = withJsonSchema(mini.object({ sure: mini.boolean() }), mini.toJSONSchema);
// #endregion mini

export const confirm = saga({ name: 'confirm', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
  return sure ? 'Yes.' : 'No.';
});
