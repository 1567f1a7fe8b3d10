import { redisStore, type IoRedisLike, type RedisClient } from '@mcp-saga/redis';
import { createSagaHost, generateKey } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import type { EntryKey } from '@mcp-saga/server/stores';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { claim, fenceOf, hour } from '../../../test/support/guard-claims.ts';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { longestWait, patient } from '../../../test/support/patience.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { accept, order } from './support/order.ts';

/** A client whose calls stay unanswered, or get another reply. */
const silent = (answer: Promise<unknown>): IoRedisLike => ({
  eval: () => answer,
  evalsha: () => answer,
});

/** Key of the entry of a task. */
const task = (group: string): EntryKey => ({ group, name: 'task' });

describe('the use of Redis', () => {
  it('rejects an unsupported client or option at once', () => {
    const client = silent(Promise.resolve());
    expect(() => redisStore({} as RedisClient)).toThrow("a connected client of 'redis'");
    expect(() => redisStore(undefined as unknown as RedisClient)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    expect(() => redisStore(client, { prefix: '{shop}:' })).toThrow('braces');
    expect(() => redisStore(client, { timeout: 0 })).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
    expect(() => redisStore(client, { timeout: Number.NaN })).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
  });

  it('[T13] rejects an unknown client at construction, by its name', () => {
    class GlideClient {
      customCommand(): void {}
    }
    const given: readonly [unknown, string][] = [
      [new GlideClient(), 'GlideClient'],
      [
        { ...silent(Promise.resolve()), internal_send_command: () => undefined },
        "'redis' before version 4",
      ],
      ['redis://localhost', 'string'],
      [null, 'null'],
      [Object.create(null), 'object'],
    ];
    for (const [client, name] of given) {
      expect(() => redisStore(client as RedisClient), name).toThrow(
        `Unsupported Redis client: ${name}.`,
      );
    }
  });

  it('rejects an unknown option by its name', () => {
    const client = silent(Promise.resolve());
    expect(() => redisStore(client, { keyPrefix: 'shop:' } as object)).toThrow(
      "no option 'keyPrefix'",
    );
  });

  it('a call to Redis fails after `timeout`, by default two seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const never = silent(new Promise(() => undefined));
    const rejected = expect(storeGuard(redisStore(never)).begin(claim())).rejects.toThrow(
      'within 2000 ms',
    );
    const later = expect(redisStore(never, { timeout: 5_000 }).read(task('a'))).rejects.toThrow(
      'within 5000 ms',
    );
    await expect.poll(() => vi.getTimerCount()).toBe(2);
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all([rejected, later]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('rejects an unexpected reply, and distinguishes an error from an unknown script', async () => {
    const store = redisStore(silent(Promise.resolve('OK')));
    await expect(storeGuard(store).begin(claim())).rejects.toThrow(
      'Unexpected reply from the Redis script of an entry.',
    );
    await expect(
      storeGuard(redisStore(silent(Promise.resolve(['what'])))).begin(claim()),
    ).rejects.toThrow(TypeError);
    const oom = {
      ...silent(Promise.resolve(['busy'])),
      evalsha: () => Promise.reject(new Error('OOM full')),
    };
    await expect(storeGuard(redisStore(oom)).begin(claim())).rejects.toThrow('OOM full');
    expect(await store.read(task('a'))).toBeUndefined();
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    await expect(store.append({ group: 'a', name: 'ada' }, 'x', bounds)).rejects.toThrow(TypeError);
    expect(await store.list('a')).toEqual({ values: [], isClosed: false });
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

  it('[T13] every key expires, and all keys of a saga are on one cluster node', async () => {
    const store = redisStore(redis, { ...patient, prefix: 'keys:' });
    const guard = storeGuard(store);
    const expiresAtMs = Date.now() + hour;
    await guard.finish(fenceOf(await guard.begin(claim())), 'sealed');
    await guard.begin(claim({ turn: 2 }));
    await guard.claim('saga:a step: {x}', expiresAtMs);
    await store.write(task('saga'), { head: 'task', body: 'sealed' }, 0, { expiresAtMs });
    const bounds = { expiresAtMs, maxValues: 2 };
    await store.append({ group: 'saga', name: 'ada' }, 'sealed', { ...bounds, chargeTo: 'eve' });
    await store.close('other', expiresAtMs);
    const keys = await redis.keys('keys:*');
    expect(keys.toSorted()).toEqual([
      'keys:{eve}:charges',
      'keys:{other}list',
      'keys:{saga}:once:a step: {x}',
      'keys:{saga}:task',
      'keys:{saga}:task:body',
      'keys:{saga}:turn:1',
      'keys:{saga}:turn:1:body',
      'keys:{saga}:turn:2',
      'keys:{saga}list',
    ]);
    const left = await Promise.all(keys.map(async (key) => ({ key, ms: await redis.pttl(key) })));
    // Charges are counted in steps of 15 minutes.
    const step = hour / 4;
    for (const { key, ms } of left) {
      expect(ms).toBeGreaterThan(hour / 2);
      expect(ms).toBeLessThanOrEqual(key.endsWith(':charges') ? hour + step : hour);
    }
  });

  it('sends the text of a script once, and again after Redis lost the script', async () => {
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
    const store = redisStore(spied, { ...patient, prefix: 'scripts:' });
    await store.read(task('a'));
    await store.read(task('a'));
    await redis.script('FLUSH');
    await store.read(task('a'));
    expect(sent).toEqual(['digest', 'text', 'digest', 'digest', 'text']);
  });

  it('[T13] a call that a client repeats after a dropped connection counts once', async () => {
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
    const store = redisStore(twice, { ...patient, prefix: 'twice:' });
    const guard = storeGuard(store);
    const onceGuard = storeGuard(redisStore(redis, { ...patient, prefix: 'twice:' }));
    const fence = fenceOf(await guard.begin(claim()));
    expect(await onceGuard.begin(claim())).toBe('busy');
    await guard.release(fence);
    const again = fenceOf(await guard.begin(claim()));
    expect(await guard.finish(again, 'sealed')).toBe(true);
    // The next claim gets the interrupted request each time, because it is not a repeated call.
    const first = await guard.begin(claim({ turn: 2, request: 'brought' }));
    expect(Object.keys(first as object)).toEqual(['run']);
    await guard.release(fenceOf(first));
    expect(await guard.begin(claim({ turn: 2 }))).toHaveProperty('interrupted', 'brought');
    expect(await onceGuard.finish(again, 'other')).toBe(false);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(true);
    expect(await guard.claim('saga:fire', Date.now() + hour)).toBe(false);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    const one = await store.write(task('a'), { head: 'task', body: 'one' }, 0, bounds);
    expect(one.status).toBe('written');
    const { version = 0 } = (await store.read(task('a'))) ?? {};
    const two = await store.write(task('a'), { head: 'task', body: 'two' }, version, bounds);
    expect(two.status).toBe('written');
    expect(await store.read(task('a'))).toMatchObject({ body: 'two' });
    const ada = { group: 'a', name: 'ada' };
    expect(await store.append(ada, 'one', bounds)).toBe('added');
    expect(await store.append(ada, 'two', bounds)).toBe('taken');
    expect(await store.append({ ...ada, name: 'eve' }, 'two', bounds)).toBe('full');
  });

  it('[T13] rejects an entry that would expire at once because the Redis clock is ahead', async () => {
    const store = redisStore(redis, { ...patient, prefix: 'ahead:' });
    const guard = storeGuard(store);
    await expect(guard.begin(claim({ expiresAt: Date.now() - 1_000 }))).rejects.toThrow(
      'Redis clock',
    );
    await expect(guard.claim('saga:fire', Date.now() - 1_000)).rejects.toThrow('Redis clock');
    const bounds = { expiresAtMs: Date.now() - 1_000, maxValues: 1 };
    await expect(store.append({ group: 'a', name: 'ada' }, 'x', bounds)).rejects.toThrow(
      'Redis clock',
    );
    expect(await redis.keys('ahead:*')).toEqual([]);
  });

  it('[T13] rejects a turn if the clocks of Redis and host differ by more than 30 s', async () => {
    const guard = storeGuard(redisStore(redis, { ...patient, prefix: 'clocks:' }));
    for (const seconds of [-40, 40]) {
      const asked = claim({ turn: 1, now: Date.now() + seconds * 1_000 });
      await expect(guard.begin(asked)).rejects.toThrow('differ by more than 30 s');
    }
    expect(await redis.keys('clocks:*')).toEqual([]);
    for (const [turn, seconds] of [-20, 0, 20].entries()) {
      expect(await guard.begin(claim({ turn, now: Date.now() + seconds * 1_000 }))).toHaveProperty(
        'run',
      );
    }
  });

  it('[T13] a host runs nothing if its clock differs too much from the Redis clock', async () => {
    const shipped: string[] = [];
    const errors: unknown[] = [];
    let ahead = 0;
    const host = createSagaHost({
      sagas: [order({ ship: (key) => void shipped.push(key) })],
      keys: generateKey(),
      name: 'shop',
      store: redisStore(redis, { ...patient, prefix: 'host:' }),
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
    await vi.waitFor(
      async () => expect(await redis.cluster('INFO')).toContain('cluster_state:ok'),
      {
        timeout: longestWait,
      },
    );
    redis.disconnect();
  });
  afterAll(() => server.kill());

  async function uses(client: RedisClient, prefix: string): Promise<void> {
    const store = redisStore(client, { ...patient, prefix });
    const guard = storeGuard(store);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    const sagas = ['one', 'another', 'a third'];
    await Promise.all(
      sagas.map(async (sagaId) => {
        expect(await guard.finish(fenceOf(await guard.begin(claim({ sagaId }))), sagaId)).toBe(
          true,
        );
        expect(await guard.begin(claim({ sagaId }))).toMatchObject({ response: sagaId });
        expect(await guard.claim(`${sagaId}:fire`, Date.now() + hour)).toBe(true);
        const value = { head: 'task', body: 'sealed' };
        expect((await store.write(task(sagaId), value, 0, bounds)).status).toBe('written');
        expect(await store.read(task(sagaId))).toMatchObject(value);
        expect(await store.append({ group: sagaId, name: 'ada' }, 'sealed', bounds)).toBe('added');
        await store.close(sagaId, Date.now() + hour);
        const values = [{ name: 'ada', value: 'sealed' }];
        expect(await store.list(sagaId)).toEqual({ values, isClosed: true });
      }),
    );
  }

  it('[T13] works with the cluster client of ioredis', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
    onTestFinished(() => cluster.disconnect());
    await uses(cluster, 'ioredis:');
  });

  it('[T13] works with the cluster client of redis', async () => {
    const cluster = createCluster({ rootNodes: [{ url: server.url }] });
    onTestFinished(() => cluster.destroy());
    await cluster.connect();
    await uses(cluster, 'redis:');
  });
});
