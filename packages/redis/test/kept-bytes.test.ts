import { redisStore, type IoRedisLike } from '@mcp-saga/redis';
import { storeGuard } from '@mcp-saga/server/internal';
import type { EntryKey } from '@mcp-saga/server/stores';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { claim, fenceOf } from '../../../test/support/guard-claims.ts';
import { deferred } from '../../server/test/fixtures/deferred.ts';
import { floodingClient, type FloodingClient } from '../../server/test/guards/flooding-client.ts';
import { patient } from '../../../test/support/patience.ts';

/** A client whose next call that counts bytes waits until `go`. */
function waiting(redis: Redis) {
  const came = deferred<void>();
  const go = deferred<void>();
  let isHeld = false;
  const call =
    (method: 'eval' | 'evalsha') =>
    async (...args: [string, number, ...string[]]): Promise<unknown> => {
      const [, , key] = args;
      if (isHeld && key?.endsWith(':charges')) {
        isHeld = false;
        came.resolve();
        await go.promise;
      }
      return await redis[method](...args);
    };
  const client: IoRedisLike = { eval: call('eval'), evalsha: call('evalsha') };
  return { client, hold: () => (isHeld = true), came: came.promise, go: () => go.resolve() };
}

describeWithRedis('a client that sends little, to fill Redis', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  beforeEach(async () => void (await redis.flushall()));
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });

  // The buffers of connections come and go, so Redis as a whole would be no measure of its entries.
  const usedMemory = async (): Promise<number> => {
    const keys = await redis.keys('*');
    const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  };

  /** How much Redis grows while a client sends. */
  async function growth(send: (client: FloodingClient) => Promise<void>) {
    const store = redisStore(redis, patient);
    // The scripts are loaded before anything is measured.
    await (await floodingClient(store)).answer(1);
    const client = await floodingClient(store);
    const before = await usedMemory();
    const sent = client.sent();
    await send(client);
    const after = await usedMemory();
    return { sent: client.sent() - sent, grown: after - before };
  }

  const turns = 12;

  it('[T11] [T13] a client makes Redis grow by at most twice the bytes that it sends', async () => {
    const { sent, grown } = await growth((client) => client.answer(turns));
    expect(grown).toBeGreaterThan(0);
    expect(grown).toBeLessThan(2 * sent + turns * 1_024);
  });

  it('[T11] [T13] repeated requests for a response do not make Redis grow', async () => {
    const { sent, grown } = await growth((client) => client.answerWrongly(turns));
    expect(sent).toBeGreaterThan(turns * 1_000);
    expect(grown).toBeLessThan(turns * 1_024);
    expect(await redis.keys('*:turn:1')).toHaveLength(1);
  });

  const charge = { to: 'ada', limit: 100 };
  const until = (): number => Date.now() + 3_600_000;

  it('[T11] [T13] an entry beyond the limit of its principal is never seen by another request', async () => {
    const { client, hold, came, go } = waiting(redis);
    const store = redisStore(client, patient);
    const task = (group: string): EntryKey => ({ group, name: 'task' });
    const write = async (group: string, body: string, expected: number) =>
      (
        await store.write(task(group), { head: 'task', body }, expected, {
          expiresAtMs: until(),
          charge,
        })
      ).status;
    expect(await write('first', 'x'.repeat(100), 0)).toBe('written');
    hold();
    const one = write('second', 'state', 0);
    await came;
    expect(await write('second', 'copy', 0)).toBe('full');
    go();
    expect(await one).toBe('full');
    expect(await store.read(task('second'))).toBeUndefined();
    // An entry that exists is found, and can be replaced, beyond the limit.
    expect(await write('first', 'copy', 0)).toBe('other');
    const { version = 0 } = (await store.read(task('first'))) ?? {};
    expect(await write('first', 'y'.repeat(50), version)).toBe('written');
    expect(await write('second', 'state', 0)).toBe('written');
  });

  it('[T11] [T13] two changes of one entry count once, in whatever order they are counted', async () => {
    const { client, hold, came, go } = waiting(redis);
    const guard = storeGuard(redisStore(client, patient));
    const lasting = { ...claim(), charge: { to: 'ada', limit: 10_000 }, expiresAt: until() };
    const fence = fenceOf(await guard.begin({ ...lasting, request: 'r'.repeat(50_000) }));
    hold();
    const renewal = guard.renew(fence, Date.now());
    await came;
    expect(await guard.finish(fence, 'done')).toBe(true);
    go();
    await renewal;
    // Nothing but the response is counted.
    fenceOf(await guard.begin({ ...lasting, turn: 2 }));
  });
});
