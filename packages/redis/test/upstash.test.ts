import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { Redis as Upstash, type RedisConfigNodejs } from '@upstash/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { claim, fenceOf, hour } from '../../../test/support/guard-claims.ts';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { startFakeUpstash, type UpstashFaults } from '../../../test/support/fake-upstash.ts';
import { accept, order } from './support/order.ts';
import { patient } from '../../../test/support/patience.ts';

describeWithRedis('a client of @upstash/redis', () => {
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

  async function clientWith(
    options: Partial<RedisConfigNodejs> = {},
    faults: UpstashFaults = {},
  ): Promise<Upstash> {
    const { close, ...credentials } = await startFakeUpstash(server.url, faults);
    onTestFinished(close);
    return new Upstash({ ...credentials, enableTelemetry: false, ...options });
  }

  it('[T13] guards a host from the first resumed turn on', async () => {
    const shipped: string[] = [];
    const host = createSagaHost({
      sagas: [order({ ship: (key) => void shipped.push(key) })],
      keys: generateKey(),
      name: 'shop',
      store: redisStore(await clientWith(), { ...patient, prefix: 'host:' }),
    });
    const { token } = suspended(await host.start('order', {}));
    const turns = [
      await host.resume(token, accept('ship')),
      await host.resume(token, accept('ship')),
    ];
    expect(turns).toMatchObject([{ status: 'suspended' }, { status: 'suspended' }]);
    expect(shipped).toHaveLength(1);
  });

  it.each<[string, Partial<RedisConfigNodejs>]>([
    ['by default', {}],
    ['without base64', { responseEncoding: false }],
    ['without deserialization', { automaticDeserialization: false }],
    ['without pipelines', { enableAutoPipelining: false }],
  ])('returns the stored value, also if it looks like JSON, %s', async (name, options) => {
    const store = redisStore(await clientWith(options), { ...patient, prefix: `${name}:` });
    const guard = storeGuard(store);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 20 };
    for (const sealed of [
      '1e3',
      '007',
      'null',
      'true',
      '{"a":[1]}',
      '"text"',
      '',
      '=',
      'OK',
      '12345678901234567890',
    ]) {
      const verdict = await guard.begin(claim({ sagaId: sealed }));
      expect(await guard.finish(fenceOf(verdict), sealed)).toBe(true);
      expect(await guard.begin(claim({ sagaId: sealed }))).toEqual({
        response: sealed,
        wentOn: false,
      });
      const task = { group: sealed, name: 'task' };
      await store.write(task, { head: sealed, body: sealed }, 0, bounds);
      expect(await store.read(task)).toMatchObject({ head: sealed, body: sealed });
      await store.append({ group: 'a', name: sealed }, sealed, bounds);
    }
    const { values } = await store.list('a');
    expect(values.map(({ name: one, value }) => one === value)).toEqual(
      Array.from({ length: 10 }, () => true),
    );
    expect(values).toHaveLength(10);
  });

  it('[T13] a request that the client repeats after a lost reply counts once', async () => {
    let requests = 0;
    // Each second request runs, and its reply is lost.
    const client = await clientWith(
      { retry: { retries: 3, backoff: () => 1 } },
      { losesReply: () => (requests += 1) % 2 === 1 },
    );
    const store = redisStore(client, { ...patient, prefix: 'lost:' });
    const guard = storeGuard(store);
    const verdict = await guard.begin(claim({ sagaId: 'a' }));
    expect(await guard.finish(fenceOf(verdict), 'sealed')).toBe(true);
    expect(await guard.claim('a:fire', Date.now() + hour)).toBe(true);
    expect(await guard.claim('a:fire', Date.now() + hour)).toBe(false);
    const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
    const ada = { group: 'a', name: 'ada' };
    expect(await store.append(ada, 'one', bounds)).toBe('added');
    expect(await store.append(ada, 'two', bounds)).toBe('taken');
    expect(requests).toBeGreaterThan(10);
  });

  it('sends a script again after the database lost the script, alone and in a pipeline', async () => {
    for (const enableAutoPipelining of [true, false]) {
      const store = redisStore(await clientWith({ enableAutoPipelining }), {
        ...patient,
        prefix: 'scripts:',
      });
      await redis.script('FLUSH');
      const read = async (group: string) => await store.read({ group, name: 'task' });
      expect(await Promise.all([read('a'), read('b')])).toEqual([undefined, undefined]);
    }
  });

  it('[T13] an error contains no sealed value', async () => {
    for (const enableAutoPipelining of [true, false]) {
      const store = redisStore(await clientWith({ token: 'wrong', enableAutoPipelining }));
      const key = { group: 'a', name: 'task' };
      const bounds = { expiresAtMs: Date.now() + hour, maxValues: 1 };
      const calls = [
        async () => await store.write(key, { head: 'task', body: 'SEALED' }, 0, bounds),
        async () => await storeGuard(store).begin(claim({ sagaId: 'a', request: 'SEALED' })),
        async () => await store.append(key, 'SEALED', bounds),
      ];
      for (const call of calls) {
        const error = await call().then(
          () => new Error('It was accepted.'),
          (thrown: unknown) => thrown as Error,
        );
        expect(error.message).toContain('Unauthorized');
        expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('SEALED');
      }
    }
  });
});
