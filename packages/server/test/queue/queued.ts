import {
  createSagaHost,
  generateKey,
  memoryStore,
  type Program,
  type QueueMessage,
  type SagaHost,
  type SagaQueue,
  type SagaStore,
} from '@mcp-saga/server';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { z } from 'zod';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';

export const Ok = z.object({ ok: z.boolean() });
export const minute = 60_000;
export const hour = 60 * minute;

/** Message of a queue, with its time. */
export interface Sent {
  readonly message: QueueMessage;
  readonly at: number;
}

/** Queue that records messages, which a test delivers itself. */
export interface RecordingQueue extends SagaQueue {
  readonly sent: Sent[];
  readonly removed: string[];
  /** `true` while the queue rejects messages. */
  isDown: boolean;
}

export function recordingQueue(): RecordingQueue {
  const queue: RecordingQueue = {
    sent: [],
    removed: [],
    isDown: false,
    send: (message, at) => {
      if (queue.isDown) throw new Error('the queue is down');
      queue.sent.push({ message, at });
    },
    remove: (sagaId) => {
      if (queue.isDown) throw new Error('the queue is down');
      queue.removed.push(sagaId);
    },
  };
  return queue;
}

/** Hosts that share keys, a store of used tokens, a clock, and a queue. */
export interface Queued {
  readonly host: SagaHost;
  readonly queue: RecordingQueue;
  readonly clock: TestClock;
  readonly store: SagaStore;
  readonly errors: unknown[];
  readonly rejected: string[];
  /** Creates another host, as a restart of the process does. */
  readonly restart: (changes?: HostChanges) => SagaHost;
  /** Lets the time of the newest message come, and delivers the message. */
  readonly next: (host?: SagaHost) => Promise<DeliveryResult>;
  /** Delivers the newest messages until the saga has ended. */
  readonly drain: () => Promise<DeliveryResult>;
}

export function queued(sagas: Program | readonly Program[], changes: HostChanges = {}): Queued {
  const clock = testClock();
  const store = memoryStore({ clock });
  const queue = recordingQueue();
  const errors: unknown[] = [];
  const rejected: string[] = [];
  const common: HostChanges = {
    sagas: [sagas].flat(),
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production', clock, sleep: async (ms) => void (clock.now += ms) },
    store,
    queue,
    limits: { maxHold: 0 },
    hooks: {
      onTurn: () => undefined,
      onWarning: () => undefined,
      onError: (error) => void errors.push(error),
      onReject: ({ reason }) => void rejected.push(reason),
    },
  };
  const restart = (more: HostChanges = {}): SagaHost =>
    createSagaHost(changed(common, changes, more));
  const host = restart();
  const next = async (by: SagaHost = host): Promise<DeliveryResult> => {
    const { message, at } = queue.sent.at(-1) as Sent;
    clock.now = Math.max(clock.now, at);
    return await by.deliver(message);
  };
  const drain = async (): Promise<DeliveryResult> => {
    for (let deliveries = 0; deliveries < 100; deliveries += 1) {
      const delivery = await next();
      if (delivery.status === 'ended') return delivery;
    }
    throw new Error('The saga does not end.');
  };
  return { host, queue, clock, store, errors, rejected, restart, next, drain };
}
