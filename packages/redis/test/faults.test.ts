import { redisStore } from '@mcp-saga/redis';
import { Redis } from 'ioredis';
import { it, onTestFinished } from 'vitest';
import { startFaultProxy } from '../../../test/support/fault-proxy.ts';
import { expectSoundUnderFaults } from '../../../test/support/faulty-store.ts';
import { describeWithRedis, startRedis } from '../../../test/support/redis-server.ts';
import { pass } from './support/pass.ts';

describeWithRedis('stores in Redis behind a proxy', () => {
  it('[T13] keep their promises if Redis loses requests, replies, and connections', async () => {
    const server = await startRedis();
    onTestFinished(() => server.kill());
    const proxy = await startFaultProxy(server.port);
    onTestFinished(() => proxy.close());
    const clientAt = (port: number): Redis => {
      const redis = new Redis({
        port,
        host: '127.0.0.1',
        retryStrategy: () => 1,
        maxRetriesPerRequest: 0,
      });
      redis.on('error', () => undefined);
      onTestFinished(() => redis.disconnect());
      return redis;
    };
    const direct = clientAt(server.port);
    await expectSoundUnderFaults(
      {
        store: redisStore(clientAt(proxy.port), { timeout: 100 }),
        direct: redisStore(direct),
        proxy,
        pass: (ms) => pass(direct, 'mcp-saga:', ms),
      },
      25,
    );
  });
});
