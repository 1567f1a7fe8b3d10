import { readFileSync } from 'node:fs';
import { redisGuard, redisTaskStore, type RedisClient } from '@mcp-saga/redis';
import type { Fence } from '@mcp-saga/server/internal';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, startRedis, type RedisServer } from '../../../test/support/redis-server.ts';
import { clients } from './support/clients.ts';

const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');
const hour = 3_600_000;

/** All that a guard and a store of tasks do in Redis. */
async function useAll(client: RedisClient, sagaId: string): Promise<void> {
  const guard = redisGuard(client);
  const expiresAt = Date.now() + hour;
  const claim = { sagaId, jti: 'x', action: 'resume', digest: 'x', leaseMs: hour, expiresAt } as const;
  const begun = [];
  for (const turn of [1, 2, 3]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const verdict = await guard.begin({ ...claim, turn, request: 'x' });
    if (typeof verdict === 'string' || !('run' in verdict)) throw new Error('It was begun before.');
    begun.push(verdict.run);
  }
  const [one, two, three] = begun as [Fence, Fence, Fence];
  await guard.finish(one, 'sealed');
  await guard.begin({ ...claim, turn: 1, request: 'x' });
  await guard.release(two);
  await guard.begin({ ...claim, turn: 2, request: 'x' });
  await guard.forget(three);
  await guard.claim(`${sagaId}:x`, expiresAt);
  const store = redisTaskStore(client);
  await store.write(sagaId, 'sealed', 0, expiresAt);
  await store.read(sagaId);
}

describeWithRedis('a user of Redis', () => {
  let server: RedisServer;
  let redis: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await startRedis();
    redis = createClient({ url: server.url });
    await redis.connect();
  });
  afterAll(async () => {
    redis.destroy();
    await server.kill();
  });

  it('[T13] has to be allowed what the page on fleets says, and no less', async () => {
    const rule = /^ *ACL SETUSER sagas on >PASSWORD (.+)$/m.exec(page)?.[1]?.split(' ') ?? [];
    await redis.sendCommand(['ACL', 'SETUSER', 'sagas', 'on', '>PASSWORD', ...rule]);
    const url = server.url.replace('redis://', 'redis://sagas:PASSWORD@');
    for (const [name, connect] of Object.entries(clients)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { client, close } = await connect(url);
      onTestFinished(() => void close());
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await useAll(client, name);
    }
    const client = createClient({ url });
    await client.connect();
    onTestFinished(() => client.destroy());
    // Each command is needed; `eval` only where Redis has forgotten a script, `info` by ioredis alone.
    for (const word of rule.filter((one) => /^\+(?!@|eval$|info)/.test(one))) {
      const command = word.slice(1);
      // oxlint-disable-next-line no-await-in-loop -- one user
      await redis.sendCommand(['ACL', 'SETUSER', 'sagas', `-${command}`]);
      // oxlint-disable-next-line no-await-in-loop -- one user
      await expect(useAll(client, `without-${command}`), command).rejects.toThrow(
        /can't run this command|permissions/,
      );
      // oxlint-disable-next-line no-await-in-loop -- one user
      await redis.sendCommand(['ACL', 'SETUSER', 'sagas', word]);
    }
  });
});
