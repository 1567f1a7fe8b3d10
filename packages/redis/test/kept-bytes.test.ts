import { redisStore, type IoRedisLike } from '@mcp-saga/redis';
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
    const guard = redisStore(redis, patient).guard;
    // The scripts are loaded before anything is measured.
    await (await floodingClient(guard)).answer(1);
    const client = await floodingClient(guard);
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
    const { tasks } = redisStore(client, patient);
    expect(await tasks.write('first', 'x'.repeat(100), 0, until(), charge)).toBe('written');
    hold();
    const one = tasks.write('second', 'state', 0, until(), charge);
    await came;
    expect(await tasks.write('second', 'copy', 0, until(), charge)).toBe('full');
    go();
    expect(await one).toBe('full');
    expect(await tasks.read('second')).toBeUndefined();
    // An entry that exists is found, and can be replaced, beyond the limit.
    expect(await tasks.write('first', 'copy', 0, until(), charge)).toBe('other');
    const { version = 0 } = (await tasks.read('first')) ?? {};
    expect(await tasks.write('first', 'y'.repeat(50), version, until(), charge)).toBe('written');
    expect(await tasks.write('second', 'state', 0, until(), charge)).toBe('written');
  });

  it('[T11] [T13] two changes of one entry count once, in whatever order they are counted', async () => {
    const { client, hold, came, go } = waiting(redis);
    const { guard } = redisStore(client, patient);
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
