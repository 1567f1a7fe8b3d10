import { setImmediate } from 'node:timers/promises';
import { pgBossHandler, pgBossQueue } from '@mcp-saga/queues';
import type { SagaQueue } from '@mcp-saga/server';
import type { QueueUnderTest } from '@mcp-saga/testing/stores';
import { PgBoss, TestClock } from 'pg-boss';

/** A queue of pg-boss under test, and what else a test looks at. */
export interface PgBossUnderTest extends QueueUnderTest {
  readonly boss: PgBoss;
  readonly name: string;
}

/**
 * pg-boss on a clock that a test advances, which PostgreSQL follows. Starting it takes longer than
 * a test, so all tests share it.
 */
export interface StartedPgBoss {
  readonly make: () => Promise<PgBossUnderTest>;
  readonly stop: () => Promise<void>;
}

/** Starts pg-boss in two instances on one database. */
export async function startPgBoss(connectionString: string): Promise<StartedPgBoss> {
  const clock = new TestClock(Date.UTC(2030, 0, 1));
  const options = { connectionString, clock, schedule: false, registerInstance: false };
  const often = {
    superviseIntervalSeconds: 60,
    monitorIntervalSeconds: 60,
    maintenanceIntervalSeconds: 600,
  };
  const bosses = [
    new PgBoss({ ...options, ...often }),
    new PgBoss({ ...options, supervise: false }),
  ] as const;
  for (const boss of bosses) boss.on('error', (error) => console.error(error));
  const [boss, other] = bosses;
  await boss.start();
  await other.start();
  let made = 0;
  // The clock changes once at a time.
  let last = Promise.resolve();
  const alone = (change: () => Promise<void>): Promise<void> => (last = last.then(change));
  let stopLast = async (): Promise<void> => undefined;
  const make = async (): Promise<PgBossUnderTest> => {
    await stopLast();
    made += 1;
    const name = `sagas-${made}`;
    await boss.createQueue(name);
    // No two messages are sent at one time, by any clock that is not a test's.
    const timed = (queue: SagaQueue): SagaQueue => ({
      ...queue,
      send: async (message, at) => {
        await alone(() => clock.setTime(clock.now() + 1));
        await queue.send(message, at);
      },
    });
    let isConsumed = false;
    let running = 0;
    const isIdle = async (): Promise<boolean> => {
      if (!isConsumed) return true;
      const jobs = await boss.findJobs(name, { queued: true });
      return running === 0 && !jobs.some(({ startAfter }) => startAfter.getTime() <= clock.now());
    };
    return {
      boss,
      name,
      queue: timed(pgBossQueue(boss, { queue: name })),
      elsewhere: timed(pgBossQueue(other, { queue: name })),
      now: () => clock.now(),
      pass: async (ms) => {
        // Jumps: the workers would poll each half second of the time between.
        await alone(() => clock.setTime(clock.now() + ms));
        for (;;) {
          await alone(() => clock.tick(500));
          await setImmediate();
          if (await isIdle()) return;
        }
      },
      consume: async (deliver) => {
        const handle = pgBossHandler({ deliver });
        running = 0;
        await boss.work(
          name,
          { pollingIntervalSeconds: 0.5, batchSize: 20 },
          async (jobs: Parameters<typeof handle>[0]) => {
            running += 1;
            await handle(jobs).finally(() => (running -= 1));
          },
        );
        isConsumed = true;
        const kill = async (): Promise<void> => {
          isConsumed = false;
          await boss.offWork(name, { wait: false });
        };
        stopLast = kill;
        return { kill };
      },
    };
  };
  return {
    make,
    stop: async () => {
      await Promise.all(bosses.map(async (one) => await one.stop({ graceful: false })));
    },
  };
}
