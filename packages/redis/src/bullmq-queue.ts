import { optionError } from '@mcp-saga/core/shared';
import type { QueueConsumer, QueueMessage, SagaQueue } from '@mcp-saga/server/stores';

/** Required methods of a `Queue` of BullMQ 5.81 or newer. */
export interface BullmqQueueLike {
  add(
    name: string,
    data: QueueMessage,
    options: BullmqJobOptions,
  ): Promise<{ readonly id?: string | undefined }>;
  getJob(jobId: string): Promise<BullmqJobLike | undefined>;
  remove(jobId: string): Promise<number>;
  getDeduplicationJobId(id: string): Promise<string | null>;
  removeDeduplicationKey(id: string): Promise<number>;
}

/** Required methods of a `Job` of BullMQ. */
export interface BullmqJobLike {
  readonly data: QueueMessage;
  isActive(): Promise<boolean>;
  removeDeduplicationKey(): Promise<boolean>;
}

/** Options of the jobs of {@link bullmqQueue}. */
export interface BullmqJobOptions {
  readonly jobId: string;
  readonly delay: number;
  readonly attempts: number;
  readonly backoff: { readonly type: 'custom' };
  readonly stackTraceLimit: number;
  readonly removeOnComplete: boolean;
  readonly deduplication: { readonly id: string };
}

const methods = [
  'add',
  'getJob',
  'remove',
  'getDeduplicationJobId',
  'removeDeduplicationKey',
] as const;

/**
 * Creates a `SagaQueue` from a BullMQ `Queue`, which stores its jobs in Redis. Keeps one job for
 * each saga, for its newest turn. A rejected delivery is repeated after a second, then with growing
 * delays of up to 30 seconds, without a limit.
 * @param queue - queue of BullMQ; the caller closes it
 * @throws TypeError if `queue` is not a queue of BullMQ
 * @example
 * ```ts
 * declare const sagas: BullmqQueueLike; // new Queue('sagas', { connection })
 *
 * const queue = bullmqQueue(sagas);
 * ```
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- else, TypeScript infers the jobs of `new Queue()` from it
export function bullmqQueue<Queue extends BullmqQueueLike>(queue: Queue): SagaQueue {
  const given = Object(queue) as { readonly [name: string]: unknown };
  const missing = methods.find((name) => typeof given[name] !== 'function');
  if (missing !== undefined) {
    throw optionError(
      `bullmqQueue: expected a Queue of BullMQ 5.81 or newer, but it lacks '${missing}'.`,
    );
  }
  /**
   * Stores a job, unless a job of a newer turn is stored. A woken job starts soon, and so does the
   * job that replaces it before.
   */
  const store = async (
    message: QueueMessage,
    at: number,
    isWoken: boolean = false,
  ): Promise<boolean> => {
    const { sagaId, turn } = message;
    for (;;) {
      // A deduplication key names the newest job of the saga. BullMQ alone would keep the first
      // job, or the last one sent.
      const last = await queue.getDeduplicationJobId(sagaId);
      if (last !== null && Number.parseInt(last, 10) > turn) return false;
      const job = last === null ? undefined : await queue.getJob(last);
      // A wake lasts until a delivery begins after it: the running turn may have read its answers
      // before.
      const replacesWoken = job !== undefined && isWokenId(last) && !(await job.isActive());
      // The key may name a job of another process by now.
      if (job !== undefined && !(await job.removeDeduplicationKey())) continue;
      if (job === undefined && last !== null) await queue.removeDeduplicationKey(sagaId);
      const jobId = `${turn}-${isWoken || replacesWoken ? 'woken-' : ''}${crypto.randomUUID()}`;
      const time = replacesWoken ? Math.min(at, Date.now()) : at;
      const { id } = await queue.add('saga', message, jobOptions(jobId, sagaId, time));
      if (id !== jobId) continue;
      if (last !== null) await queue.remove(last);
      return true;
    }
  };
  return {
    send: async (message, at) => void (await store(message, at)),
    remove: async (sagaId) => {
      const last = await queue.getDeduplicationJobId(sagaId);
      if (last !== null) await queue.remove(last);
    },
    wake: async (sagaId) => {
      for (;;) {
        const last = await queue.getDeduplicationJobId(sagaId);
        const job = last === null ? undefined : await queue.getJob(last);
        if (job === undefined) return;
        // The running turn sends its next message by then, which replaces the woken job.
        const wait = (await job.isActive()) ? runningMs : 0;
        if (await store(job.data, Date.now() + wait, true)) return;
      }
    },
  };
}

/** Wait of a woken saga whose message is being delivered, in milliseconds. */
const runningMs = 1_000;

function isWokenId(jobId: string | null): boolean {
  return jobId !== null && /^\d+-woken-/.test(jobId);
}

function jobOptions(jobId: string, sagaId: string, at: number): BullmqJobOptions {
  return {
    jobId,
    delay: Math.max(0, Math.ceil(at - Date.now())),
    attempts: Number.MAX_SAFE_INTEGER,
    backoff: { type: 'custom' },
    // BullMQ stores the stack of each attempt by default.
    stackTraceLimit: 1,
    removeOnComplete: true,
    deduplication: { id: sagaId },
  };
}

const halfToOne = (): number => 1 - Math.random() / 2;

/**
 * Options for the `Worker` of {@link bullmqProcessor}: growing delays before a rejected delivery is
 * repeated, and no limit on processes that die. By default, BullMQ drops a job permanently when a
 * second process dies while running it.
 */
export const bullmqWorkerOptions: {
  readonly maxStalledCount: number;
  readonly settings: { readonly backoffStrategy: (attempts: number) => number };
} = {
  maxStalledCount: Number.MAX_SAFE_INTEGER,
  // The strategies of BullMQ have no longest delay.
  settings: {
    backoffStrategy: (count) => Math.round(Math.min(30_000, 500 * 2 ** count) * halfToOne()),
  },
};

/**
 * Creates the processor of a BullMQ `Worker`, which passes messages to a host. Redis stores no
 * result of a delivery, and only the code of an error: the hooks of the host report the error.
 * @example
 * ```ts
 * import type { QueueConsumer } from '@mcp-saga/server/stores';
 *
 * declare const host: Pick<QueueConsumer, 'deliver'>; // createSagaHost(…)
 *
 * const processor = bullmqProcessor(host); // new Worker('sagas', processor, { ...bullmqWorkerOptions, connection })
 * ```
 */
export function bullmqProcessor(
  host: Pick<QueueConsumer, 'deliver'>,
): (job: { readonly data: QueueMessage }) => Promise<void> {
  return async ({ data }) => {
    await host.deliver(data).catch((error: unknown) => {
      throw new Error(`The host rejected the message: ${codeOf(error)}.`);
    });
  };
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'unknown error';
}
