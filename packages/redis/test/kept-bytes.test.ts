import { redisStore } from '@mcp-saga/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { floodingClient, type FloodingClient } from '../../server/test/guards/flooding-client.ts';
import { patient } from '../../../test/support/patience.ts';

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
});
