import type { QueueMessage } from '@mcp-saga/server';
import { Queue, type Job } from 'bullmq';
import { between, type Draw } from '../seeded.ts';
import { queueName } from './times.ts';

/** Numbers of disturbed queue messages. */
export interface MessageFigures {
  twice: number;
  late: number;
  early: number;
  /** Messages of earlier turns. */
  old: number;
}

/** Messages with a longer delay end sagas whose first token was never used. */
const farMs = 30 * 60 * 1000;
const most = 300;
/** A client has 30 s to return. The test waits less. */
const graceMs = 10_000;

/** Disturbs the queue: delivers messages twice, late, early, and out of order. */
export class Messages {
  readonly figures: MessageFigures = { twice: 0, late: 0, early: 0, old: 0 };
  readonly #draw: Draw;
  readonly #queue: Queue<QueueMessage>;
  readonly #known: QueueMessage[] = [];

  constructor(draw: Draw, port: number) {
    this.#draw = draw;
    this.#queue = new Queue<QueueMessage>(queueName, {
      connection: { host: '127.0.0.1', port, maxRetriesPerRequest: null },
    });
    // The test restarts Redis: the client reconnects by itself.
    this.#queue.on('error', () => undefined);
  }

  /** Disturbs deliveries until the signal aborts. */
  async disturb(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await pause(between(this.#draw, 300, 900));
      // A job may have started or ended meanwhile.
      await this.#disturbOnce().catch(() => undefined);
    }
  }

  /** Delivers messages early, until only messages with a delay of an hour or more remain. */
  async hasten(): Promise<void> {
    await this.#until(async () => {
      const { near } = await this.#jobs();
      // The other messages are due within seconds.
      const waiting = near.filter((job) => leftOf(job) > graceMs || job.attemptsMade > 0);
      await Promise.all(waiting.map((job) => promote(job)));
      return near.length === 0 && (await this.#countRunning()) === 0;
    });
  }

  /** Delivers all messages. Returns the sagas with messages that never complete. */
  async drain(): Promise<readonly string[]> {
    const isEmpty = await this.#until(async () => {
      const { near, far } = await this.#jobs();
      await Promise.all([...near, ...far].map((job) => promote(job)));
      return near.length + far.length === 0 && (await this.#countRunning()) === 0;
    });
    if (isEmpty) return [];
    const left = await this.#queue.getJobs(['delayed', 'waiting', 'active', 'prioritized']);
    return [...new Set(left.map(({ data }) => data.sagaId))];
  }

  async close(): Promise<void> {
    await this.#queue.close().catch(() => undefined);
  }

  async #disturbOnce(): Promise<void> {
    const { near } = await this.#jobs();
    for (const job of near) {
      const luck = this.#draw();
      const left = leftOf(job);
      if (this.#known.length < most) this.#known.push(job.data);
      else this.#known[between(this.#draw, 0, most)] = job.data;
      if (left > graceMs)
        await job.changeDelay(between(this.#draw, 0, 2_000)).catch(() => undefined);
      else if (luck < 0.05) {
        this.figures.twice += 1;
        await this.#copy(job.data, 0);
      } else if (luck < 0.12) {
        this.figures.late += 1;
        await job
          .changeDelay(Math.max(0, left) + between(this.#draw, 200, 2_500))
          .catch(() => undefined);
      } else if (luck < 0.18) {
        this.figures.early += 1;
        await promote(job);
      }
    }
    const old = this.#known[between(this.#draw, 0, this.#known.length)];
    if (old === undefined) return;
    this.figures.old += 1;
    await this.#copy(old, between(this.#draw, 0, 3_000));
  }

  async #copy(message: QueueMessage, delay: number): Promise<void> {
    await this.#queue.add('copy', message, {
      delay,
      attempts: Number.MAX_SAFE_INTEGER,
      backoff: { type: 'fixed', delay: 2_000 },
      removeOnComplete: true,
    });
  }

  /** Delayed jobs, grouped by delay. */
  async #jobs(): Promise<Record<'near' | 'far', readonly Job<QueueMessage>[]>> {
    const jobs = (await this.#queue.getDelayed()).filter((job) => job !== undefined);
    const near = jobs.filter((job) => leftOf(job) < farMs);
    return { near, far: jobs.filter((job) => !near.includes(job)) };
  }

  async #countRunning(): Promise<number> {
    const counts = await this.#queue.getJobCounts('waiting', 'active', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  async #until(isDone: () => Promise<boolean>): Promise<boolean> {
    for (let tries = 0; tries < 300; tries += 1) {
      if (await isDone().catch(() => false)) return true;
      await pause(200);
    }
    return false;
  }
}

/** Time until a delayed job starts, in milliseconds. */
function leftOf({ timestamp, delay }: Job): number {
  return timestamp + delay - Date.now();
}

async function promote(job: Job): Promise<void> {
  await job.changeDelay(0).catch(() => undefined);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
