import { elicit, saga, step, type Saga, type StepAnswer } from '@mcp-saga/server';
import { z } from 'zod';

const Ok = z.object({ ok: z.boolean() });

/** A saga with an effect between two questions. */
export function order(effects: {
  readonly ship: (idempotencyKey: string) => unknown;
}): Saga<undefined, undefined> {
  return saga({ name: 'order', version: '1' }, function* () {
    yield* elicit('ship', { message: 'Ship?', schema: Ok });
    yield* step('ship', async ({ idempotencyKey }) => {
      await effects.ship(idempotencyKey);
    });
    yield* elicit('review', { message: 'Good?', schema: Ok });
    return 'thanks';
  });
}

/** An accepted form. */
export function accept(stepId: string): StepAnswer[] {
  return [{ stepId, result: { action: 'accept', content: { ok: true } } }];
}

/** A declined one. */
export function decline(stepId: string): StepAnswer[] {
  return [{ stepId, result: { action: 'decline' } }];
}
