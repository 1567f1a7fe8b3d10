import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  type SagaHost,
  type SagaStore,
} from '@mcp-saga/server';
import * as z from 'zod';

// A saga with an input and a step, which then asks its user.
const refund = saga(
  { name: 'refund', version: '1', input: z.object({ order: z.string() }) },
  function* ({ order }) {
    const { id } = yield* step('reserve', () => ({ id: 'r_12345' }));
    const { sure } = yield* elicit('sure', {
      message: `Refund ${order}?`,
      schema: z.object({ sure: z.boolean() }),
    });
    return `${id} ${sure}`;
  },
);

/** Creates a host of the saga on a store. */
export function refundHost(store: SagaStore): SagaHost {
  return createSagaHost({
    sagas: [refund],
    keys: generateKey(),
    name: 'shop',
    store,
    hooks: { onWarning: () => {} },
    testing: { environment: 'production' },
  });
}

/**
 * Starts the saga up to its question, and returns its token.
 *
 * @param name - names the start, so that the store keeps its response for a client that asks again.
 * Default: the store keeps nothing
 */
export async function suspend(host: SagaHost, name?: string): Promise<string> {
  const options = name === undefined ? {} : { idempotencyKey: name };
  const turn = await host.start('refund', { order: 'A-1' }, options);
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`);
  return turn.token;
}

/** Answers the question, which ends the saga. */
export async function confirm(host: SagaHost, token: string): Promise<void> {
  const result = { action: 'accept', content: { sure: true } };
  const { status } = await host.resume(token, [{ stepId: 'sure', result }]);
  if (status !== 'completed') throw new Error(`The saga ${status}`);
}
