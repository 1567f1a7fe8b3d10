import { pgBossHandler, pgBossQueue, type PgBossLike } from '@mcp-saga/queues';
import type { QueueMessage } from '@mcp-saga/server';
import { queueConformance } from '@mcp-saga/testing/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWithPostgres,
  startPostgres,
  type PostgresServer,
} from '../../../test/support/postgres-server.ts';
import { startPgBoss, type StartedPgBoss } from './support/pg-boss.ts';

describeWithPostgres('what every queue does, in pg-boss', () => {
  let server: PostgresServer;
  let started: StartedPgBoss;

  beforeAll(async () => {
    server = await startPostgres();
    started = await startPgBoss(server.url);
  });
  afterAll(async () => {
    await started.stop();
    await server.remove();
  });

  for (const { title, run } of queueConformance(() => started.make())) it(title, run);

  const message = (sagaId: string, turn: number): QueueMessage => ({
    sagaId,
    turn,
    token: `sealed ${turn}`,
  });

  it('keeps one job of pg-boss for each saga', async () => {
    const { boss, name, queue, elsewhere, now } = await started.make();
    const at = now() + 60_000;
    await Promise.all(
      [1, 5, 2, 4, 3].map(async (turn, index) =>
        (index % 2 === 0 ? queue : elsewhere).send(message('one', turn), at),
      ),
    );
    await queue.send(message('other', 1), at);
    const data = (await boss.findJobs<QueueMessage>(name)).map((job) => job.data);
    expect(data).toEqual([message('one', 5), message('other', 1)]);
  });

  it('stores neither results nor error messages, and deletes completed jobs', async () => {
    const { boss, name, queue, consume, now, pass } = await started.make();
    await consume(async ({ turn, sagaId }) => {
      if (turn === 1)
        throw Object.assign(new Error('secret', { cause: 'secret' }), { code: 'guard_down' });
      return { status: 'ended', sagaId };
    });
    await queue.send(message('done', 2), now());
    await pass(0);
    const [done] = await boss.findJobs(name);
    expect(done).toMatchObject({ state: 'completed', output: null });
    await queue.send(message('rejected', 1), now());
    await pass(0);
    const [rejected] = await boss.findJobs(name, { key: 'rejected' });
    expect(rejected?.output).toMatchObject({
      message: 'The host rejected the message: guard_down.',
    });
    expect(JSON.stringify(rejected?.output)).not.toContain('secret');
    await pass(600_000);
    await pass(600_000);
    expect((await boss.findJobs(name)).map((job) => job.singletonKey)).toEqual(['rejected']);
  });

  it('wakes a saga after any number of deliveries, because each message deletes completed jobs', async () => {
    const { boss, name, queue, consume, now, pass } = await started.make();
    const delivered: number[] = [];
    await consume(async ({ turn, sagaId }) => {
      delivered.push(turn);
      if (turn < 4)
        await queue.send(message(sagaId, turn + 1), now() + (turn < 3 ? 0 : 24 * 3_600_000));
      return { status: 'waiting', sagaId };
    });
    await queue.send(message('one', 1), now());
    for (let turn = 1; turn < 4; turn += 1) {
      await pass(0);
    }
    expect(delivered).toEqual([1, 2, 3]);
    // The last completed one was active when the next was sent.
    expect((await boss.findJobs(name)).map(({ state }) => state)).toEqual(['completed', 'created']);
    await queue.wake?.('one');
    await pass(0);
    expect(delivered).toEqual([1, 2, 3, 4]);
  });

  it('keeps a message, also a woken one, that is due in 20 days', async () => {
    const { boss, name, queue, elsewhere, now, pass } = await started.make();
    await queue.send(message('due', 1), now());
    await queue.send(message('woken', 1), now() + 60_000);
    await elsewhere.wake?.('woken');
    for (let days = 0; days < 20; days += 1) {
      await pass(24 * 3_600_000);
    }
    const data = (await boss.findJobs<QueueMessage>(name)).map((job) => job.data);
    expect(data).toEqual([message('due', 1), message('woken', 1)]);
  });

  it('reports a queue with a policy that drops jobs', async () => {
    const { boss, now } = await started.make();
    await boss.createQueue('exclusive', { policy: 'exclusive' });
    const queue = pgBossQueue(boss, { queue: 'exclusive' });
    await queue.send(message('one', 1), now());
    await expect(queue.send(message('one', 2), now())).rejects.toMatchObject({
      code: 'queue_refused',
      message: expect.stringContaining("'exclusive'"),
    });
  });

  it('rejects a queue that does not exist', async () => {
    const { boss, now } = await started.make();
    await expect(
      pgBossQueue(boss, { queue: 'unknown' }).send(message('one', 1), now()),
    ).rejects.toThrow('unknown');
  });
});

describe('a queue of pg-boss', () => {
  it('rejects other values and unknown options', () => {
    const boss = { send: () => undefined, findJobs: () => undefined, deleteJob: () => undefined };
    const of = (given: unknown, options: object) => () => pgBossQueue(given as PgBossLike, options);
    expect(of({ send: () => undefined }, { queue: 'sagas' })).toThrow("'findJobs'");
    expect(of(undefined, { queue: 'sagas' })).toThrow(TypeError);
    expect(of(boss, { queue: '' })).toThrow('pgBossQueue.queue');
    expect(of(boss, {})).not.toThrow();
    expect(of(boss, { queue: 'sagas', name: 'x' })).toThrow("has no option 'name'");
  });

  it('passes all messages of a batch to the host, and rejects the batch if the host rejects one', async () => {
    const delivered: number[] = [];
    const handler = pgBossHandler({
      deliver: async ({ sagaId, turn }) => {
        if (turn === 1) throw Object.assign(new Error('secret'), { code: 'busy' });
        delivered.push(turn);
        return { status: 'ended', sagaId };
      },
    });
    const jobs = [1, 2, 3].map((turn) => ({ data: { sagaId: 's', turn, token: 'sealed' } }));
    await expect(handler(jobs)).rejects.toMatchObject({
      code: 'queue_delivery_rejected',
      message: expect.stringContaining('busy'),
    });
    expect(delivered).toEqual([2, 3]);
    expect(await handler(jobs.slice(1))).toBeUndefined();
  });
});
