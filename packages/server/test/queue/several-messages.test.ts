import { approval, memoryStore, saga, sleep, type SuspendedTurn } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { base, day, user } from '../outside/case.ts';
import { suspended } from '../fixtures/host.ts';
import { minute, queued, type Queued, type Sent } from './queued.ts';

/**
 * A queue that stores each message, as SQS and QStash do, and a saga that waits for an approval.
 */
class Pool {
  readonly urls: string[] = [];
  readonly all: Queued;
  stored: Sent[] = [];
  isDown = false;
  turn: SuspendedTurn | undefined;

  constructor() {
    const { urls } = this;
    const refund = saga({ name: 'refund', version: '1' }, function* () {
      const { approved } = yield* approval('manager', {
        message: 'Refund?',
        timeout: 2 * day,
        deliver: ({ url }) => void urls.push(url),
      });
      return String(approved);
    });
    const store = memoryStore({ clock: () => this.all.clock.now });
    this.all = queued(refund, { store, url: base });
    this.all.queue.send = (message, at) => {
      if (this.isDown) throw new Error('the queue is down');
      this.stored.push({ message, at });
    };
  }

  async start(): Promise<void> {
    this.turn = suspended(await this.all.host.start('refund', {}));
  }

  /** Repeats the request of the waiting client. */
  async poll(): Promise<void> {
    this.turn = suspended(await this.all.host.resume(this.turn?.token ?? ''));
  }

  /** Delivers all due messages. Returns their number, and the results. */
  async pass(
    ms: number,
    keeps: (index: number) => boolean = () => false,
  ): Promise<readonly string[]> {
    this.all.clock.now += ms;
    const due = this.stored.filter(({ at }) => at <= this.all.clock.now);
    this.stored = this.stored.filter((sent) => !due.includes(sent));
    const results: string[] = [];
    for (const [index, sent] of due.entries()) {
      const { status } = await this.all.host
        .deliver(sent.message)
        .catch(() => ({ status: 'rejected' }));
      if (status === 'rejected' || keeps(index)) this.stored.push(sent);
      results.push(status);
    }
    return results;
  }
}

describe('a queue that stores several messages of a saga', () => {
  it('[E8] keeps few messages, however often the client of a waiting saga calls', async () => {
    const pool = new Pool();
    await pool.start();
    for (let polls = 0; polls < 100; polls += 1) {
      await pool.poll();
      await pool.pass(10_000);
      // Those of the last minute, the elected ones, and the one of the start.
      expect(pool.stored.length).toBeLessThan(13);
    }
    for (let minutes = 0; minutes < 5; minutes += 1) await pool.pass(minute);
    expect(pool.stored.length).toBeLessThan(4);
    const request = new Request(pool.urls[0] ?? '', {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
    });
    expect((await pool.all.host.answer(request, { caller: user('ann') })).status).toBe(200);
    expect(await pool.pass(minute)).toContain('ended');
    await pool.pass(minute);
    expect(pool.stored).toEqual([]);
  });

  it('[E8] never loses the last message while each is delivered twice and the queue fails', async () => {
    const pool = new Pool();
    await pool.start();
    for (let polls = 0; polls < 5; polls += 1) await pool.poll();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      pool.isDown = minutes % 3 === 1;
      await pool.pass(minute, (index) => (minutes + index) % 4 === 0);
      expect(pool.stored.length).toBeGreaterThan(0);
    }
    pool.isDown = false;
    const results: string[] = [];
    while (pool.stored.length > 0 && pool.all.clock.now < Date.UTC(2026, 0, 1))
      results.push(...(await pool.pass(6 * 60 * minute)));
    expect(results).toContain('ended');
  });

  it('[E8] sends a message again that arrives days before its time', async () => {
    const all = queued(
      saga({ name: 'rest', version: '1' }, function* () {
        yield* sleep(5 * day);
        return 'rested';
      }),
    );
    const { sagaId } = suspended(await all.host.start('rest', {}));
    const { message } = all.queue.sent.at(-1) as Sent;
    all.clock.now += day;
    expect(await all.host.deliver(message)).toMatchObject({ status: 'waiting', sagaId });
    expect(all.queue.sent.slice(1).map(({ at }) => at)).toEqual([all.clock.now + 4 * day]);
    expect(await all.next()).toEqual({ status: 'ended', sagaId });
  });
});
