import { elicit, saga, step, type Saga, type StepContext } from '@mcp-saga/server';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

/** Charges by their key. */
export const charges: Map<string, number> = new Map();

const refund = ({ stepKey }: { readonly stepKey: string }): void => void charges.delete(stepKey);
const charge = ({ idempotencyKey }: StepContext<undefined>): void =>
  void charges.set(idempotencyKey, 9);
const chargeWithoutKey = (): void => void charges.set(`charge ${charges.size}`, 9);

/** Makes the saga that the tests of the README test, and others that lack something. */
export function payBy(lacks?: 'key' | 'undo'): Saga<undefined, undefined> {
  const undo = lacks === 'undo' ? {} : { compensate: refund, unknown: 'compensate' as const };
  return saga({ name: 'pay', version: '1' }, function* () {
    yield* step('charge', lacks === 'key' ? chargeWithoutKey : charge, undo);
    const { sure } = yield* elicit('sure', { message: 'Keep it?', schema: Sure });
    if (!sure) throw new Error('not sure');
    return 'Paid';
  });
}

export const pay: Saga<undefined, undefined> = payBy();
