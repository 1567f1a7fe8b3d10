import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  type SagaHost,
  type SagaQueue,
  type SettledSagaFacts,
  type StepAnswer,
  type TurnFacts,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { suspended } from '../fixtures/host.ts';
import { recordingQueue, type RecordingQueue, type Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

export const Ok = z.object({ ok: z.boolean() });
export const hour = 3_600_000;

export function answer(stepId: string, ok = true): StepAnswer[] {
  return [{ stepId, result: ok ? { action: 'accept', content: { ok } } : { action: 'decline' } }];
}

export const gone = (): Promise<never> => Promise.reject(new Error('the store is gone'));

/** A queue whose messages a test delivers, each when its time has come. */
export interface DrivenQueue {
  readonly queue: RecordingQueue;
  /** Returns the message that was sent last. */
  readonly newest: () => Sent;
  /**
   * Lets the time of a message come, for the hosts and for their store, and delivers the message.
   * Default: the newest one.
   */
  readonly deliver: (host: SagaHost, sent?: Sent) => Promise<DeliveryResult>;
  /** Delivers the newest messages until the saga has ended. */
  readonly drain: (host: SagaHost) => Promise<DeliveryResult>;
}

/**
 * Makes a queue whose messages a test delivers.
 * @param clock - the time of the hosts
 * @param pass - lets time pass for the hosts and for their store
 */
export function drivenQueue(clock: () => number, pass: StoreUnderTest['pass']): DrivenQueue {
  const queue = recordingQueue();
  const newest = (): Sent => {
    const sent = queue.sent.at(-1);
    if (sent === undefined) throw new Error('The queue has no message.');
    return sent;
  };
  const deliver = async (host: SagaHost, { message, at } = newest()): Promise<DeliveryResult> => {
    const ms = at - clock();
    if (ms > 0) await pass(ms);
    return await host.deliver(message);
  };
  const drain = async (host: SagaHost): Promise<DeliveryResult> => {
    for (let times = 0; times < 20; times += 1) {
      const delivery = await deliver(host);
      if (delivery.status === 'ended') return delivery;
    }
    throw new Error('The saga does not end.');
  };
  return { queue, newest, deliver, drain };
}

/** How sagas ended, as the hooks of a host tell the operator. */
export interface RecordedEnds {
  /** The last facts of each kind, of the saga that ended last. */
  readonly last: () => Pick<TurnFacts, 'status'> & Pick<SettledSagaFacts, 'uncompensated'>;
  readonly hooks: {
    readonly onTurn: (facts: TurnFacts) => void;
    readonly onSettled: (facts: SettledSagaFacts) => void;
  };
}

/** Records how sagas end that no client follows. */
export function recordedEnds(): RecordedEnds {
  let status: TurnFacts['status'] | undefined;
  let settled: SettledSagaFacts | undefined;
  return {
    last: () => {
      if (status === undefined || settled === undefined) throw new Error('No saga has ended.');
      return { status, uncompensated: settled.uncompensated };
    },
    hooks: {
      onTurn: (facts) => {
        ({ status } = facts);
      },
      onSettled: (facts) => {
        settled = facts;
      },
    },
  };
}

/** Two hosts that share a guard and a queue, and a saga that waits at its first question. */
export async function guardedHosts(
  make: () => Promise<StoreUnderTest>,
  changes: HostChanges = {},
  change: Partial<SagaGuard> = {},
) {
  const { store, elsewhere, now, pass } = await make();
  const did: string[] = [];
  const told: string[] = [];
  const errors: unknown[] = [];
  const { queue, newest, deliver, drain } = drivenQueue(now, pass);
  const telling: SagaQueue = {
    send: (message, at) => {
      told.push(`message of turn ${message.turn}`);
      return queue.send(message, at);
    },
    remove: (sagaId) => {
      told.push('removed');
      return queue.remove?.(sagaId);
    },
  };
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
    testing: { environment: 'production', clock: now },
    queue: telling,
    hooks: {
      onError: (error: unknown) => void errors.push(error),
      onTurn: () => undefined,
      onReject: () => undefined,
      onSettled: () => void told.push('settled'),
    },
  };
  const hosts: [SagaHost, SagaHost] = [
    createSagaHost(changed(common, changes, { store: storeWithGuard(() => change, store) })),
    createSagaHost(changed(common, changes, { store: elsewhere })),
  ];
  // By the host whose guard does not fail: the charge waits for a commit, which the queue knows.
  const { token } = suspended(await hosts[1].start('order', {}));
  return {
    hosts,
    token,
    did,
    told,
    errors,
    queue,
    /** Message of the first question: it ends the saga when its client can no longer answer. */
    asked: newest(),
    newest,
    deliver,
    drain,
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
