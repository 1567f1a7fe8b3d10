import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { QueueMessage, SagaQueue } from '@mcp-saga/server/stores';
import { QueueError } from './errors.ts';
import { assertText, deliver, type Receiver } from './queue-message.ts';

/** Required methods of a started `PgBoss` of pg-boss 12. */
export interface PgBossLike {
  send(queue: string, message: QueueMessage, options: PgBossJobOptions): Promise<string | null>;
  findJobs(queue: string, options: { readonly key: string }): Promise<readonly PgBossJobLike[]>;
  deleteJob(queue: string, ids: string[]): Promise<unknown>;
}

/** Required members of a job of pg-boss. */
export interface PgBossJobLike {
  readonly id: string;
  readonly data: unknown;
  readonly state: string;
  readonly priority: number;
}

/** Options of the jobs of {@link pgBossQueue}. */
export interface PgBossJobOptions {
  readonly startAfter?: Date;
  readonly retentionSeconds: number;
  readonly priority: number;
  readonly singletonKey: string;
  readonly retryLimit: number;
  readonly retryDelay: number;
  readonly retryBackoff: boolean;
  readonly retryDelayMax: number;
  readonly expireInSeconds: number;
  readonly deleteAfterSeconds: number;
}

/** Options of {@link pgBossQueue}. */
export interface PgBossQueueOptions {
  /**
   * Name of a queue of the policy `standard`: `await boss.createQueue('sagas')`. @default 'sagas'
   */
  readonly queue?: string;
}

/** Greatest number of a column of pg-boss. */
const maxInteger = 2_147_483_647;

const optionNames: NamesOf<PgBossQueueOptions> = { queue: true };

/**
 * Creates a queue of pg-boss 12 in PostgreSQL. Keeps one job for each saga, of its newest turn.
 * Repeats a rejected delivery after 1 second at first and after 60 seconds at last, without a
 * limit. Repeats a delivery of more than 5 minutes: its process may have died.
 * @param boss - started `PgBoss`; the caller stops it
 * @throws TypeError if `boss` is not of pg-boss 12, or an option is invalid
 * @example
 * ```ts
 * declare const boss: PgBossLike; // await new PgBoss(url).start()
 *
 * const queue = pgBossQueue(boss);
 * ```
 */
export function pgBossQueue(boss: PgBossLike, options: PgBossQueueOptions = {}): SagaQueue {
  rejectUnknownOption('pgBossQueue', options, optionNames);
  const { queue = 'sagas' } = options;
  assertText('pgBossQueue.queue', queue);
  const given = Object(boss) as { readonly [name: string]: unknown };
  const missing = ['send', 'findJobs', 'deleteJob'].find(
    (name) => typeof given[name] !== 'function',
  );
  if (missing !== undefined) {
    throw optionError(
      `pgBossQueue: expected a PgBoss of pg-boss 12, but it has no method '${missing}'.`,
    );
  }
  /**
   * Jobs of a saga in the order of storing. pg-boss returns the first 1,000, so each new job
   * deletes those that are done.
   */
  const jobsOf = (sagaId: string): Promise<readonly PgBossJobLike[]> =>
    boss.findJobs(queue, { key: sagaId });
  const remove = async (jobs: readonly PgBossJobLike[]): Promise<void> => {
    const ids = jobs.map(({ id }) => id);
    if (ids.length > 0) await boss.deleteJob(queue, ids);
  };
  /** Stores a job. Returns `false` if a job of a newer turn waits and replaces the stored job. */
  const store = async (message: QueueMessage, at: Date | 'woken'): Promise<boolean> => {
    const { sagaId, turn } = message;
    const id = await boss.send(queue, message, jobOptions(sagaId, at));
    if (id === null) {
      throw new QueueError(
        'queue_refused',
        `pg-boss stored no job in the queue '${queue}'. Create the queue with the policy 'standard'.`,
      );
    }
    const jobs = await jobsOf(sagaId);
    const newest = newestOf(jobs.filter(isWaiting));
    // All processes agree on the newest job, and no process deletes the newest.
    const others = jobs.filter((job) => job !== newest && job.state !== 'active');
    // The running turn may have read its answers before the wake.
    if (newest?.priority === 0 && others.some((job) => isWaiting(job) && job.priority > 0))
      await store(messageOf(newest), 'woken');
    else await remove(others);
    return newest === undefined || messageOf(newest).turn <= turn;
  };
  return {
    send: async (message, at) => void (await store(message, new Date(Math.ceil(at)))),
    remove: async (sagaId) => await remove((await jobsOf(sagaId)).filter(isWaiting)),
    wake: async (sagaId) => {
      for (;;) {
        // The job in delivery, too: the next job of the saga replaces its copy.
        const jobs = await jobsOf(sagaId);
        const newest = newestOf(jobs.filter((job) => isWaiting(job) || job.state === 'active'));
        if (newest === undefined || (await store(messageOf(newest), 'woken'))) return;
      }
    },
  };
}

const messageOf = ({ data }: PgBossJobLike): QueueMessage => data as QueueMessage;

const isWaiting = ({ state }: PgBossJobLike): boolean => state === 'created' || state === 'retry';

/** Returns the last job of the newest turn. */
function newestOf(jobs: readonly PgBossJobLike[]): PgBossJobLike | undefined {
  const newest = Math.max(...jobs.map((job) => messageOf(job).turn));
  return jobs.findLast((job) => messageOf(job).turn === newest);
}

function jobOptions(sagaId: string, at: Date | 'woken'): PgBossJobOptions {
  return {
    // At once, by the clock of the database.
    ...(at === 'woken' ? {} : { startAfter: at }),
    // Of a woken saga. The wake lasts until a delivery begins after it.
    priority: at === 'woken' ? 1 : 0,
    // By default, pg-boss deletes a job that waits, or is repeated, for 14 days.
    retentionSeconds: maxInteger,
    singletonKey: sagaId,
    retryLimit: maxInteger,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    expireInSeconds: 300,
    // A job that is done holds a token. 0 would keep the job forever.
    deleteAfterSeconds: 1,
  };
}

/**
 * Creates the handler of `boss.work`, to pass messages to a host. PostgreSQL stores no result of a
 * delivery, and only the code of an error: the hooks of the host report the error.
 * @example
 * ```ts
 * declare const host: Receiver; // createSagaHost(…)
 *
 * const handler = pgBossHandler(host); // await boss.work('sagas', handler)
 * ```
 */
export function pgBossHandler(
  host: Receiver,
): (jobs: readonly { readonly data: QueueMessage }[]) => Promise<void> {
  return async (jobs) => {
    const deliveries = await Promise.allSettled(
      jobs.map(async ({ data }) => await deliver(host, data)),
    );
    for (const delivery of deliveries) if (delivery.status === 'rejected') throw delivery.reason;
  };
}
