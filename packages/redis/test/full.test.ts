import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey, saga, elicit, step } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { claim, fenceOf, hour } from '../../../test/support/guard-claims.ts';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { accept } from './support/order.ts';
import { patient } from '../../../test/support/patience.ts';

const mebibyte = 1024 * 1024;

describeWithRedis('a Redis that has reached its maxmemory', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  beforeEach(async () => {
    await redis.config('SET', 'maxmemory', '0');
    await redis.flushall();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });

  const began = async (change?: Parameters<typeof claim>[0]): Promise<ReturnType<typeof fenceOf>> =>
    fenceOf(await storeGuard(redisStore(redis, patient)).begin(claim(change)));

  const usedMemory = async (): Promise<number> =>
    Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);

  /** Lets Redis have no more memory than it uses now. */
  const fill = (): Promise<unknown> => redis.config('SET', 'maxmemory', '1');

  it('[T13] a full Redis starts no turns and does not grow', async () => {
    const guard = storeGuard(redisStore(redis, patient));
    const limit = (await usedMemory()) + 2 * mebibyte;
    await redis.config('SET', 'maxmemory', String(limit));
    const request = 'x'.repeat(16_384);
    const refusals: unknown[] = [];
    for (let turn = 1; turn <= 512; turn += 1) {
      await Promise.resolve(guard.begin(claim({ turn, request }))).catch((error: unknown) =>
        refusals.push(error),
      );
    }
    expect(refusals.length).toBeGreaterThan(256);
    expect(String(refusals[0])).toContain('OOM');
    expect(await usedMemory()).toBeLessThan(limit + mebibyte / 2);
  });

  it('[T13] a full Redis changes nothing for a rejected request', async () => {
    const guard = storeGuard(redisStore(redis, patient));
    await guard.forget(await began({ request: 'first' }));
    await guard.release(await began({ turn: 2, request: 'first' }));
    const before = (await redis.keys('*')).toSorted();
    await fill();
    await expect(guard.begin(claim({ request: 'second' }))).rejects.toThrow('OOM');
    await expect(guard.claim('saga:fire', Date.now() + hour)).rejects.toThrow('OOM');
    expect((await redis.keys('*')).toSorted()).toEqual(before);
    await redis.config('SET', 'maxmemory', '0');
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(true);
  });

  it('[T11] [T13] a full Redis counts no bytes of the turns that it rejects', async () => {
    const guard = storeGuard(redisStore(redis, patient));
    const charged = claim({ request: 'x'.repeat(400), charge: { to: 'ada', limit: 1_000 } });
    await fill();
    for (let attempt = 1; attempt <= 5; attempt += 1)
      await expect(guard.begin(charged)).rejects.toThrow('OOM');
    await redis.config('SET', 'maxmemory', '0');
    fenceOf(await guard.begin(charged));
  });

  it('[T11] [T13] a full Redis adds no value to a list, and counts no bytes of it', async () => {
    const store = redisStore(redis, patient);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 10, chargeTo: 'ada' };
    await fill();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const added = store.append({ group: 'list', name: 'eve' }, 'x'.repeat(400), bounds);
      await expect(added).rejects.toThrow('OOM');
    }
    expect(await store.list('list')).toEqual({ values: [], isClosed: false });
    await redis.config('SET', 'maxmemory', '0');
    fenceOf(await storeGuard(store).begin(claim({ charge: { to: 'ada', limit: 1_000 } })));
  });

  it('[T13] a full Redis lets an interrupted turn run to its end', async () => {
    const guard = storeGuard(redisStore(redis, patient));
    await guard.release(await began({ request: 'first' }));
    await fill();
    const again = await guard.begin(claim({ request: 'second' }));
    expect(again).toHaveProperty('interrupted', 'first');
    expect(await guard.finish(fenceOf(again), 'sealed')).toBe(true);
  });

  it('[T13] a full Redis finishes an open turn and returns its response', async () => {
    const guard = storeGuard(redisStore(redis, patient));
    const [one, two, three] = [await began(), await began({ turn: 2 }), await began({ turn: 3 })];
    await fill();
    expect(await guard.finish(one, 'sealed')).toBe(true);
    expect(await guard.begin(claim())).toMatchObject({ response: 'sealed' });
    await guard.release(two);
    await guard.forget(three);
    await redis.config('SET', 'maxmemory', '0');
    expect(await guard.begin(claim({ turn: 2 }))).toHaveProperty('run');
    expect(await guard.begin(claim({ turn: 3, digest: 'no' }))).toHaveProperty('run');
  });

  it('[T13] a host runs nothing with a full Redis, and the token stays valid', async () => {
    const did: string[] = [];
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('ship', { message: 'Ship?', schema: z.object({ ok: z.boolean() }) });
      yield* step('ship', () => void did.push('ship'));
      return 'shipped';
    });
    const errors: unknown[] = [];
    const host = createSagaHost({
      sagas: [order],
      keys: generateKey(),
      name: 'shop',
      store: redisStore(redis, patient),
      hooks: { onError: (error) => void errors.push(error) },
    });
    const { token } = suspended(await host.start('order', {}));
    await fill();
    await expect(host.resume(token, accept('ship'))).rejects.toMatchObject({ code: 'guard_down' });
    expect(errors).toMatchObject([
      { code: 'guard_down', cause: { message: expect.stringContaining('OOM') } },
    ]);
    expect(did).toEqual([]);
    await redis.config('SET', 'maxmemory', '0');
    expect(await host.resume(token, accept('ship'))).toMatchObject({ result: 'shipped' });
    expect(did).toEqual(['ship']);
  });
});
