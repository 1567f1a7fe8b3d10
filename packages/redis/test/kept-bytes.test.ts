import { redisGuard } from '@mcp-saga/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWithRedis, startRedis, type RedisServer } from '../../../test/support/redis-server.ts';
import { floodingClient, type FloodingClient } from '../../server/test/guards/flooding-client.ts';

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

  const usedMemory = async (): Promise<number> =>
    Number(/^used_memory_dataset:(\d+)/m.exec(await redis.info('memory'))?.[1]);

  /** How much Redis grows while a client sends. */
  async function growth(send: (client: FloodingClient) => Promise<void>) {
    const guard = redisGuard(redis);
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

  it('[T11] [T13] makes it grow by no more than twice what it sends', async () => {
    const { sent, grown } = await growth((client) => client.answer(turns));
    expect(grown).toBeGreaterThan(0);
    expect(grown).toBeLessThan(2 * sent + turns * 1_024);
  });

  it('[T11] [T13] does not make it grow by answers that are asked for again', async () => {
    const { sent, grown } = await growth((client) => client.answerWrongly(turns));
    expect(sent).toBeGreaterThan(turns * 1_000);
    expect(grown).toBeLessThan(turns * 1_024);
    expect(await redis.keys('*:turn:1')).toHaveLength(1);
  });
});
