import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  type SagaHost,
  type StepAnswer,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { suspended } from '../fixtures/host.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

export const Ok = z.object({ ok: z.boolean() });
export const hour = 3_600_000;

export function answer(stepId: string, ok = true): StepAnswer[] {
  return [{ stepId, result: ok ? { action: 'accept', content: { ok } } : { action: 'decline' } }];
}

export const gone = (): Promise<never> => Promise.reject(new Error('the store is gone'));

/** Two hosts that share a guard, and a saga that waits at its first question. */
export async function guardedHosts(
  make: () => Promise<StoreUnderTest>,
  changes: HostChanges = {},
  change: Partial<SagaGuard> = {},
) {
  const { store, elsewhere, now, pass } = await make();
  const did: string[] = [];
  const told: string[] = [];
  const facts: SuspendedSagaFacts[] = [];
  let ahead = 0;
  const errors: unknown[] = [];
  let hang: ((key: string) => Promise<void>) | undefined;
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* elicit('ship', { message: 'Ship?', schema: Ok });
    yield* step('ship', async ({ idempotencyKey }) => {
      did.push(`ship ${idempotencyKey}`);
      await hang?.(idempotencyKey);
    });
    yield* elicit('review', { message: 'Good?', schema: Ok });
    yield* step('thank', () => void did.push('thank'), { once: true });
    return 'thanks';
  });
  const common: HostChanges = {
    sagas: [order],
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production', clock: () => now() + ahead },
    hooks: {
      onError: (error: unknown) => void errors.push(error),
      onTurn: () => undefined,
      onReject: () => undefined,
      onSuspended: (suspendedSaga: SuspendedSagaFacts) => {
        facts.push(suspendedSaga);
        told.push(`suspended ${suspendedSaga.turn}`);
      },
      onSettled: () => void told.push('settled'),
    },
  };
  const hosts: [SagaHost, SagaHost] = [
    createSagaHost(changed(common, changes, { store: storeWithGuard(() => change, store) })),
    createSagaHost(changed(common, changes, { store: elsewhere })),
  ];
  const { token } = suspended(await hosts[0].start('order', {}));
  return {
    hosts,
    token,
    did,
    told,
    facts,
    errors,
    /** Lets so much time pass that every lease is out, and every token has expired. */
    expire: async () => {
      ahead += 3 * hour;
      await pass(70_000);
    },
    pass,
    /**
     * Holds the first run of the step `ship`. Resolves when the step runs, with a function that
     * continues it.
     */
    hanging: (): Promise<() => void> => {
      const begun = deferred<() => void>();
      hang = () => {
        hang = undefined;
        return new Promise((resolve) => begun.resolve(resolve));
      };
      return begun.promise;
    },
  };
}
