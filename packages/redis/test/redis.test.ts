import { redisGuard, redisTaskStore, type IoRedisLike, type RedisClient } from '@mcp-saga/redis';
import { createSagaHost, generateKey, type GuardClaim, type GuardVerdict } from '@mcp-saga/server';
import type { Fence } from '@mcp-saga/server/internal';
import { Redis as UpstashRedis } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeWithRedis, startRedis, type RedisServer } from '../../../test/support/redis-server.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { accept, order } from './support/order.ts';

const hour = 3_600_000;

const claim = (change: Partial<GuardClaim> = {}): GuardClaim => ({
  sagaId: 'saga',
  turn: 1,
  jti: 'token',
  action: 'resume',
  digest: 'yes',
  leaseMs: 60_000,
  expiresAt: Date.now() + hour,
  ...change,
});

function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict !== 'object' || !('run' in verdict))
    throw new Error(`not run: ${JSON.stringify(verdict)}`);
  return verdict.run;
}

/** A client that never hears of Redis, or hears something else. */
const silent = (answer: Promise<unknown>): IoRedisLike => ({ eval: () => answer, evalsha: () => answer });

describe('what is kept in Redis', () => {
  it('says at once what it cannot be made of', () => {
    const client = silent(Promise.resolve());
    expect(() => redisGuard({} as RedisClient)).toThrow("a connected client of 'redis'");
    expect(() => redisTaskStore(undefined as unknown as RedisClient)).toThrow(TypeError);
    expect(() => redisGuard(client, { prefix: '{shop}:' })).toThrow('braces');
    expect(() => redisTaskStore(client, { timeoutMs: 0 })).toThrow(RangeError);
    expect(() => redisGuard(client, { timeoutMs: Number.NaN })).toThrow(RangeError);
  });

  it('[T13] refuses a client of @upstash/redis by its name', () => {
    const upstash: object = new UpstashRedis({ url: 'https://example.upstash.io', token: 'token' });
    const client = upstash as RedisClient;
    expect(() => redisGuard(client)).toThrow("'@upstash/redis'");
    expect(() => redisTaskStore(client)).toThrow("'@upstash/redis'");
  });

  it('waits for Redis for two seconds, or as long as it is told', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const never = silent(new Promise(() => undefined));
    const rejected = expect(redisGuard(never).begin(claim())).rejects.toThrow('within 2000 ms');
    const later = expect(redisTaskStore(never, { timeoutMs: 5_000 }).read('a')).rejects.toThrow(
      'within 5000 ms',
    );
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(2));
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all([rejected, later]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes no other answer for one of the guard, nor an error for an unknown script', async () => {
    await expect(redisGuard(silent(Promise.resolve('OK'))).begin(claim())).rejects.toThrow(
      'none of the guard',
    );
    await expect(redisGuard(silent(Promise.resolve(['what']))).begin(claim())).rejects.toThrow(TypeError);
    const oom = {
      ...silent(Promise.resolve(['busy'])),
      evalsha: () => Promise.reject(new Error('OOM full')),
    };
    await expect(redisGuard(oom).begin(claim())).rejects.toThrow('OOM full');
    expect(await redisTaskStore(silent(Promise.resolve('OK'))).read('a')).toBeUndefined();
  });
});

describeWithRedis('in Redis', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });

  it('[T13] every key expires, and all of a saga stand on one node of a cluster', async () => {
    const guard = redisGuard(redis, { prefix: 'keys:' });
    const store = redisTaskStore(redis, { prefix: 'keys:' });
    await guard.finish(fenceOf(await guard.begin(claim())), 'sealed');
    await guard.begin(claim({ turn: 2 }));
    await guard.claim('saga:a step: {x}', Date.now() + hour);
    await store.write('saga', 'sealed', 0, Date.now() + hour);
    const keys = await redis.keys('keys:*');
    expect(keys.toSorted()).toEqual([
      'keys:{saga}:once:a step: {x}',
      'keys:{saga}:response:1',
      'keys:{saga}:task',
      'keys:{saga}:turn:1',
      'keys:{saga}:turn:2',
    ]);
    const left = await Promise.all(keys.map((key) => redis.pttl(key)));
    for (const ms of left) {
      expect(ms).toBeGreaterThan(hour / 2);
      expect(ms).toBeLessThanOrEqual(hour);
    }
  });

  it('sends a script by its text once, and again when Redis has forgotten it', async () => {
    const sent: string[] = [];
    const spied: IoRedisLike = {
      eval: (...args) => {
        sent.push('text');
        return redis.eval(...args);
      },
      evalsha: (...args) => {
        sent.push('digest');
        return redis.evalsha(...args);
      },
    };
    await redis.script('FLUSH');
    const store = redisTaskStore(spied, { prefix: 'scripts:' });
    await store.read('a');
    await store.read('a');
    await redis.script('FLUSH');
    await store.read('a');
    expect(sent).toEqual(['digest', 'text', 'digest', 'digest', 'text']);
  });

  it('[T13] takes a call that a client sends twice, its connection lost, for one', async () => {
    const twice: IoRedisLike = {
      eval: async (...args) => {
        await redis.eval(...args);
        return await redis.eval(...args);
      },
      evalsha: async (...args) => {
        await redis.evalsha(...args);
        return await redis.evalsha(...args);
      },
    };
    const guard = redisGuard(twice, { prefix: 'twice:' });
    const fence = fenceOf(await guard.begin(claim()));
    expect(await redisGuard(redis, { prefix: 'twice:' }).begin(claim())).toBe('busy');
    await guard.release(fence);
    const again = fenceOf(await guard.begin(claim()));
    expect(await guard.finish(again, 'sealed')).toBe(true);
    // Of what was begun, whoever takes its place is told, the first time and the second time: it is no other call.
    const first = await guard.begin(claim({ turn: 2, request: 'brought' }));
    expect(Object.keys(first as object)).toEqual(['run']);
    await guard.release(fenceOf(first));
    expect(await guard.begin(claim({ turn: 2 }))).toHaveProperty('begun', 'brought');
    expect(await redisGuard(redis, { prefix: 'twice:' }).finish(again, 'other')).toBe(false);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(true);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(false);
    const store = redisTaskStore(twice, { prefix: 'twice:' });
    expect(await store.write('a', 'one', 0, Date.now() + hour)).toBe(true);
    expect(await store.write('a', 'two', 1, Date.now() + hour)).toBe(true);
    expect(await store.read('a')).toEqual({ version: 2, sealed: 'two' });
  });

  it('[T13] refuses to forget at once what it is asked to remember: the clock of Redis is ahead', async () => {
    const guard = redisGuard(redis, { prefix: 'ahead:' });
    await expect(guard.begin(claim({ expiresAt: Date.now() - 1_000 }))).rejects.toThrow('clock of Redis');
    await expect(guard.claim('saga:fire', Date.now() - 1_000)).rejects.toThrow('clock of Redis');
    expect(await redis.keys('ahead:*')).toEqual([]);
  });

  it('[T13] refuses to begin a turn if the clocks of Redis and of the host differ by more than 30 s', async () => {
    const guard = redisGuard(redis, { prefix: 'clocks:' });
    for (const seconds of [-40, 40]) {
      const asked = claim({ turn: 1, now: Date.now() + seconds * 1_000 });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(guard.begin(asked)).rejects.toThrow('differ by more than 30 s');
    }
    expect(await redis.keys('clocks:*')).toEqual([]);
    for (const [turn, seconds] of [-20, 0, 20].entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await guard.begin(claim({ turn, now: Date.now() + seconds * 1_000 }))).toHaveProperty('run');
    }
  });

  it('[T13] runs nothing on a host whose clock differs too much from that of Redis', async () => {
    const shipped: string[] = [];
    const errors: unknown[] = [];
    let ahead = 0;
    const host = createSagaHost({
      sagas: [order({ ship: (key) => void shipped.push(key) })],
      keys: generateKey(),
      audience: 'shop',
      guard: { store: redisGuard(redis, { prefix: 'host:' }) },
      testing: { clock: () => Date.now() + ahead },
      hooks: { onError: (error) => void errors.push(error) },
    });
    const { token } = suspended(await host.start('order', {}));
    ahead = 40_000;
    await expect(host.resume(token, accept('ship'))).rejects.toMatchObject({ code: 'guard_down' });
    expect(errors).toMatchObject([
      { code: 'guard_down', cause: { message: expect.stringContaining('clocks') } },
    ]);
    expect(shipped).toEqual([]);
    ahead = 0;
    suspended(await host.resume(token, accept('ship')));
    expect(shipped).toHaveLength(1);
  });
});

describeWithRedis('in a cluster of Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis({ cluster: true });
    const redis = new Redis(server.url);
    await redis.cluster('ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
    await vi.waitFor(async () => expect(await redis.cluster('INFO')).toContain('cluster_state:ok'), {
      timeout: 20_000,
    });
    redis.disconnect();
  });
  afterAll(() => server.kill());

  async function uses(client: RedisClient, prefix: string): Promise<void> {
    const guard = redisGuard(client, { prefix });
    const store = redisTaskStore(client, { prefix });
    const sagas = ['one', 'another', 'a third'];
    await Promise.all(
      sagas.map(async (sagaId) => {
        expect(await guard.finish(fenceOf(await guard.begin(claim({ sagaId }))), sagaId)).toBe(true);
        expect(await guard.begin(claim({ sagaId }))).toMatchObject({ response: sagaId });
        expect(await guard.claim(`${sagaId}:fire`, Date.now() + hour)).toBe(true);
        expect(await store.write(sagaId, 'sealed', 0, Date.now() + hour)).toBe(true);
        expect(await store.read(sagaId)).toEqual({ version: 1, sealed: 'sealed' });
      }),
    );
  }

  it('[T13] works by the cluster client of ioredis', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
    onTestFinished(() => cluster.disconnect());
    await uses(cluster, 'ioredis:');
  });

  it('[T13] works by the cluster client of redis', async () => {
    const cluster = createCluster({ rootNodes: [{ url: server.url }] });
    onTestFinished(() => cluster.destroy());
    await cluster.connect();
    await uses(cluster, 'redis:');
  });
});
