import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey, TokenRefused, type SagaHost } from '@mcp-saga/server';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { clients } from './support/clients.ts';
import { accept, decline, order } from './support/order.ts';
import { longestWait } from '../../../test/support/patience.ts';
import { pass } from './support/pass.ts';
import { startHost } from './support/process.ts';
import { startSlowProxy } from './support/slow-proxy.ts';

describeWithRedis('a fleet that shares a store in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  const keys = generateKey();

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url, { retryStrategy: () => 20 });
    redis.on('error', () => undefined);
  });
  beforeEach(async () => void (await redis.flushall()));
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });

  async function hostOf(
    client: keyof typeof clients,
    { url = server.url, timeout = 2_000 }: { url?: string; timeout?: number },
  ): Promise<{ readonly host: SagaHost; readonly shipped: string[]; readonly errors: string[] }> {
    const connected = await clients[client]?.(url);
    if (connected === undefined) throw new Error(`no client ${client}`);
    onTestFinished(() => void connected.close());
    const shipped: string[] = [];
    const errors: string[] = [];
    const sagas = [order({ ship: (key) => void shipped.push(key) })];
    const store = redisStore(connected.client, { prefix: 'fleet:', timeout: timeout });
    const hooks = {
      onError: (error: unknown) => void errors.push(String((error as Error).cause)),
      onReject: () => undefined,
    };
    const host = createSagaHost({ sagas, keys, name: 'shop', store, hooks });
    return { host, shipped, errors };
  }

  it('[T13] one of two racing processes runs a request', async () => {
    const hosts = await Promise.all([1, 2].map(() => startHost([server.url, 'race:', keys])));
    onTestFinished(async () => void (await Promise.all(hosts.map((host) => host.kill()))));
    const [one, other] = hosts;
    const { token = '' } = (await one?.ask({ do: 'start' })) ?? {};
    const request = { do: 'resume', token, answers: accept('ship') } as const;
    const [reply, same] = await Promise.all(hosts.map((host) => host.ask(request)));
    expect(reply).toMatchObject({ status: 'suspended' });
    expect(same).toEqual(reply);
    expect([...(one?.shipped ?? []), ...(other?.shipped ?? [])]).toHaveLength(1);
  });

  it('[T13] [E1] another process runs the turn of a killed one after the lease, with the same keys', async () => {
    const killed = await startHost([server.url, 'kill:', keys, 'hangs']);
    const other = await startHost([server.url, 'kill:', keys]);
    onTestFinished(async () => void (await Promise.all([killed.kill(), other.kill()])));
    const { token = '' } = await killed.ask({ do: 'start' });
    void killed.ask({ do: 'resume', token, answers: accept('ship') });
    await killed.ships;
    await killed.kill();
    // Only the answers of the killed turn count, although its outcome is unknown.
    expect(await other.ask({ do: 'resume', token, answers: decline('ship') })).toMatchObject({
      status: 'refused',
    });
    const waits = other.ask({ do: 'resume', token, answers: accept('ship') });
    await pass(redis, 'kill:', 70_000);
    expect(await waits).toMatchObject({ status: 'suspended' });
    expect(other.shipped).toEqual(killed.shipped);
    expect(other.shipped).toHaveLength(1);
  });

  for (const client of ['redis 6', 'ioredis 6']) {
    it(`[T13] a host runs nothing while Redis is down, and continues afterwards, by ${client}`, async () => {
      const { host, shipped, errors } = await hostOf(client, {});
      const { token } = suspended(await host.start('order', {}));
      await server.kill();
      await expect(host.resume(token, accept('ship'))).rejects.toMatchObject({
        code: 'guard_down',
      });
      expect(shipped).toEqual([]);
      expect(errors).toHaveLength(1);
      await server.restart();
      // The client connects again by itself, and Redis knows no script any more.
      await vi.waitFor(async () => suspended(await host.resume(token, accept('ship'))), {
        timeout: longestWait,
      });
      expect(shipped).toHaveLength(1);
    });
  }

  it('[T13] [E7] a guard loses only the used tokens if Redis loses its data', async () => {
    const { host, shipped } = await hostOf('ioredis 6', {});
    const { token } = suspended(await host.start('order', {}));
    const next = suspended(await host.resume(token, accept('ship')));
    await expect(host.resume(token, decline('ship'))).rejects.toThrow(TokenRefused);
    await redis.flushall();
    // Each saga continues, and repeated effects keep their keys. An older token is valid again, as
    // without a guard.
    expect(await host.resume(next.token, accept('review'))).toMatchObject({ result: 'thanks' });
    expect(await host.resume(token, decline('ship'))).toMatchObject({ status: 'failed' });
    expect(shipped).toHaveLength(1);
  });

  it('[T13] a guard waits for a slow Redis, and rejects the end of a turn from before a data loss', async () => {
    const proxy = await startSlowProxy(server.port);
    onTestFinished(() => proxy.close());
    const { host, shipped } = await hostOf('redis 6', { url: proxy.url, timeout: 30_000 });
    const { token } = suspended(await host.start('order', {}));
    proxy.hold();
    const turn = host.resume(token, accept('ship'));
    await expect.poll(() => redis.keys('fleet:*:turn:1')).not.toEqual([]);
    expect(shipped).toEqual([]);
    await redis.flushall();
    const { host: other } = await hostOf('ioredis 6', {});
    expect(await other.resume(token, decline('ship'))).toMatchObject({ status: 'failed' });
    proxy.letGo();
    await expect(turn).rejects.toMatchObject({ code: 'busy' });
  });

  it('[T13] a call fails if Redis takes too long, and its lease must expire', async () => {
    const proxy = await startSlowProxy(server.port);
    onTestFinished(() => proxy.close());
    const { host, shipped, errors } = await hostOf('ioredis 6', { url: proxy.url, timeout: 50 });
    const { token } = suspended(await host.start('order', {}));
    proxy.hold();
    await expect(host.resume(token, accept('ship'))).rejects.toMatchObject({ code: 'guard_down' });
    expect(errors).toEqual([
      'Error: Redis did not reply within 50 ms. Check the connection, or raise timeout.',
    ]);
    proxy.letGo();
    expect(shipped).toEqual([]);
    const { host: other } = await hostOf('ioredis 6', {});
    await expect.poll(() => redis.keys('fleet:*:turn:1')).not.toEqual([]);
    const repeated = other.resume(token, accept('ship'));
    await pass(redis, 'fleet:', 70_000);
    expect(await repeated).toMatchObject({ status: 'suspended' });
  });
});
