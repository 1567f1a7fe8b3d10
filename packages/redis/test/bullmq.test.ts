import { bullmqProcessor, bullmqQueue, type BullmqQueueLike } from '@mcp-saga/redis';
import type { QueueMessage } from '@mcp-saga/server';
import type { DeliveryResult } from '@mcp-saga/server/stores';
import { queueConformance } from '@mcp-saga/testing/stores';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { bulls, makeBullQueue } from './support/bullmq.ts';

describe('a queue of BullMQ', () => {
  it('rejects a value that is not a queue of BullMQ', () => {
    expect(() => bullmqQueue({ add: () => undefined } as unknown as BullmqQueueLike)).toThrow(
      TypeError,
    );
    expect(() => bullmqQueue(undefined as unknown as BullmqQueueLike)).toThrow("'add'");
  });

  it('passes a message to the host, without its result', async () => {
    const data = { sagaId: 's', turn: 1, token: 'sealed' };
    const passed: unknown[] = [];
    const deliver = async (message: QueueMessage): Promise<DeliveryResult> => {
      passed.push(message);
      return { status: 'ended', sagaId: message.sagaId };
    };
    expect(await bullmqProcessor({ deliver })({ data })).toBeUndefined();
    expect(passed).toEqual([data]);
  });

  it('reports only the code of an error, because Redis stores it', async () => {
    const reject = (error: unknown) =>
      bullmqProcessor({ deliver: () => Promise.reject(error) })({
        data: { sagaId: 's', turn: 1, token: 't' },
      });
    const busy = Object.assign(new Error('secret', { cause: 'secret' }), { code: 'busy' });
    await expect(reject(busy)).rejects.toThrow('busy');
    for (const error of [busy, new Error('secret'), 'secret', { code: 'a secret' }, undefined]) {
      const thrown: unknown = await reject(error).catch((caught: unknown) => caught);
      expect(thrown).toBeInstanceOf(Error);
      expect(`${(thrown as Error).stack} ${String((thrown as Error).cause)}`).not.toContain(
        'secret',
      );
    }
  });
});

describeWithRedis('what every queue does, in BullMQ', () => {
  let server: RedisServer;
  const closes: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    // Workers close before the queues that they read.
    for (const close of closes.splice(0).toReversed()) {
      await close();
    }
  });
  afterAll(() => server.kill());

  for (const [name, bull] of Object.entries(bulls)) {
    describe(name, () => {
      const make = makeBullQueue(
        bull,
        () => server.port,
        (close) => void closes.push(close),
      );
      for (const { title, run } of queueConformance(make)) it(title, run);

      it('keeps one job of BullMQ for each saga', async () => {
        const { bull: queue, queue: sagas, elsewhere, now } = await make();
        const at = now() + 60_000;
        const turns = [1, 2, 5, 4, 3];
        await Promise.all(
          turns.map(async (turn, index) =>
            (index % 2 === 0 ? sagas : elsewhere).send(
              { sagaId: 'one', turn, token: `sealed ${turn}` },
              at,
            ),
          ),
        );
        await sagas.send({ sagaId: 'one', turn: 6, token: 'sealed 6' }, at);
        await elsewhere.send({ sagaId: 'one', turn: 2, token: 'sealed 2' }, at);
        await sagas.send({ sagaId: 'other', turn: 1, token: 'sealed' }, at);
        const waiting = (await queue.getDelayed()).map(({ data }) => `${data.sagaId} ${data.turn}`);
        expect(waiting.filter((text) => text.startsWith('other'))).toEqual(['other 1']);
        expect(waiting).toContain('one 6');
        await elsewhere.remove?.('one');
        await elsewhere.remove?.('other');
        expect((await queue.getDelayed()).map(({ data }) => data.turn)).not.toContain(6);
      });

      it('removes a turn that was sent during the delivery of an earlier turn', async () => {
        const { bull: queue, queue: sagas, consume, now, pass } = await make();
        const at = now();
        await consume(async ({ turn }) => {
          if (turn === 1)
            await sagas.send({ sagaId: 'one', turn: 2, token: 'sealed' }, now() + 3_600_000);
          return { status: 'ended', sagaId: 'one' };
        });
        await sagas.send({ sagaId: 'one', turn: 1, token: 'sealed' }, at);
        await pass(0);
        expect((await queue.getDelayed()).map(({ data }) => data.turn)).toEqual([2]);
        await sagas.remove?.('one');
        expect(await queue.getDelayed()).toEqual([]);
      });

      it('repeats a rejected delivery soon, and later after each further rejection', async () => {
        const { bull: queue, queue: sagas, consume, now, pass } = await make();
        await consume(() => Promise.reject(new Error('busy')));
        await sagas.send({ sagaId: 'one', turn: 1, token: 'sealed' }, now());
        // A busy machine may deliver several times before the test looks.
        const delays = new Map<number, number>();
        while (delays.size < 9) {
          await pass(60_000);
          for (const { attemptsMade, delay } of await queue.getDelayed())
            delays.set(attemptsMade, delay);
        }
        for (const [attempts, delay] of delays) {
          const longest = Math.min(30_000, 500 * 2 ** attempts);
          expect(delay).toBeLessThanOrEqual(longest);
          expect(delay).toBeGreaterThanOrEqual(longest / 2);
        }
        expect(Math.min(...delays.keys())).toBeLessThan(6);
      });

      it('stores neither results nor error messages, and no completed job', async () => {
        const { bull: queue, queue: sagas, consume, now, pass } = await make();
        await consume(async ({ turn }) => {
          if (turn === 1) throw Object.assign(new Error('secret'), { code: 'guard_down' });
          return { status: 'ended', sagaId: 'other' };
        });
        await sagas.send({ sagaId: 'one', turn: 1, token: 'sealed' }, now());
        await sagas.send({ sagaId: 'other', turn: 2, token: 'sealed' }, now());
        await pass(0);
        const [rejected, ...others] = await queue.getDelayed();
        expect(others).toEqual([]);
        expect(rejected?.failedReason).toBe('The host rejected the message: guard_down.');
        expect(await queue.getJobCounts('completed', 'failed')).toEqual({
          completed: 0,
          failed: 0,
        });
      });
    });
  }
});
