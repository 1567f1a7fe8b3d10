import { Queue, Worker } from 'bullmq';
import { Queue as Queue5, Worker as Worker5 } from 'bullmq-5';
import { Redis } from 'ioredis';
import {
  bullmqProcessor,
  bullmqQueue,
  bullmqWorkerOptions,
  type BullmqJobLike,
  type BullmqQueueLike,
} from '@mcp-saga/redis';
import type { QueueMessage, SagaQueue } from '@mcp-saga/server';
import type { QueueUnderTest } from '@mcp-saga/testing/stores';

/** What the tests use of both versions of BullMQ. */
export interface BullQueue extends BullmqQueueLike {
  getDelayed(): Promise<readonly BullJob[]>;
  getJob(id: string): Promise<BullJob | undefined>;
  getJobCounts(...types: string[]): Promise<{ [type: string]: number }>;
  close(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}

interface BullJob extends BullmqJobLike {
  readonly failedReason?: string | undefined;
  /** Deliveries so far. */
  readonly attemptsMade: number;
  readonly delay: number;
  changeDelay(ms: number): Promise<void>;
}

interface BullWorker {
  close(force: boolean): Promise<void>;
  waitUntilReady(): Promise<unknown>;
  on(event: 'error', listener: () => void): unknown;
}

interface Connection {
  readonly host: string;
  readonly port: number;
  readonly maxRetriesPerRequest: null;
}

type Processor = (job: { readonly data: QueueMessage }) => Promise<void>;

/** A version of BullMQ. */
export interface Bull {
  readonly queue: (name: string, connection: Connection) => BullQueue;
  readonly worker: (name: string, processor: Processor, options: WorkerOptions) => BullWorker;
}

interface WorkerOptions {
  readonly connection: Connection;
  readonly concurrency: number;
  readonly maxStalledCount: number;
  readonly settings: { readonly backoffStrategy: (attempts: number) => number };
  readonly stalledInterval: number;
}

/** The latest two versions of BullMQ. */
export const bulls: { readonly [name: string]: Bull } = {
  'BullMQ 6': {
    queue: (name, connection) => new Queue<QueueMessage>(name, { connection }),
    worker: (name, processor, options) => new Worker(name, processor, options),
  },
  'BullMQ 5': {
    queue: (name, connection) => new Queue5<QueueMessage>(name, { connection }),
    worker: (name, processor, options) => new Worker5(name, processor, options),
  },
};

/** A queue of BullMQ under test, and what else a test looks at. */
export interface BullUnderTest extends QueueUnderTest {
  readonly bull: BullQueue;
  readonly name: string;
}

let made = 0;

/**
 * Returns a function that makes queues of BullMQ. Their clock is that of this machine with an
 * offset. To pass time, a test raises the offset, and each job gets a shorter delay.
 */
export function makeBullQueue(
  { queue: makeQueue, worker: makeWorker }: Bull,
  port: () => number,
  clean: (close: () => Promise<unknown>) => void,
): () => Promise<BullUnderTest> {
  return async () => {
    made += 1;
    const name = `sagas-${made}`;
    const connection = { host: '127.0.0.1', port: port(), maxRetriesPerRequest: null };
    const redis = new Redis(connection);
    const [bull, other] = [makeQueue(name, connection), makeQueue(name, connection)];
    for (const queue of [bull, other]) queue.on('error', () => undefined);
    clean(async () => {
      await Promise.all([bull.close(), other.close()]);
      redis.disconnect();
    });
    let ahead = 0;
    let isConsumed = false;
    const shifted = (queue: SagaQueue): SagaQueue => ({
      ...queue,
      send: (message, at) => queue.send(message, at - ahead),
    });
    const isIdle = async (): Promise<boolean> => {
      // Delayed jobs first: a job that starts meanwhile is then counted as active.
      const next = await redis.zrange(`bull:${name}:delayed`, '0', '0', 'WITHSCORES');
      const isDue = next[1] !== undefined && Number(next[1]) / 0x1000 <= Date.now();
      const {
        waiting = 0,
        active = 0,
        prioritized = 0,
      } = await bull.getJobCounts('waiting', 'active', 'prioritized');
      return waiting === 0 && prioritized === 0 && !isDue && active === 0;
    };
    return {
      bull,
      name,
      queue: shifted(bullmqQueue(bull)),
      elsewhere: shifted(bullmqQueue(other)),
      now: () => Date.now() + ahead,
      pass: async (ms) => {
        const delayed = await redis.zrange(`bull:${name}:delayed`, '0', '-1', 'WITHSCORES');
        // Later messages are sent at the new time.
        ahead += ms;
        for (let index = 0; index < delayed.length; index += 2) {
          const left = Math.ceil(Number(delayed[index + 1]) / 0x1000 - ms - Date.now());
          const job = await bull.getJob(delayed[index] ?? '');
          // The job may have started meanwhile.
          await job?.changeDelay(Math.max(0, left)).catch(() => undefined);
        }
        for (;;) {
          if (!isConsumed || (await isIdle())) return;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      consume: async (deliver) => {
        const worker = makeWorker(name, bullmqProcessor({ deliver }), {
          ...bullmqWorkerOptions,
          connection,
          concurrency: 10,
          stalledInterval: 20,
        });
        worker.on('error', () => undefined);
        await worker.waitUntilReady();
        isConsumed = true;
        const close = () => worker.close(true);
        clean(close);
        return {
          kill: async () => {
            isConsumed = false;
            await close();
            // The locks of a dead process expire after 30 seconds.
            const locks = await redis.keys(`bull:${name}:*:lock`);
            if (locks.length > 0) await redis.del(...locks);
          },
        };
      },
    };
  };
}
