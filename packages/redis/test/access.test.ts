import { readFileSync } from 'node:fs';
import { redisStore, type RedisClient } from '@mcp-saga/redis';
import { storeGuard } from '@mcp-saga/server/internal';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { claim, fenceOf, hour } from '../../../test/support/guard-claims.ts';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { clients } from './support/clients.ts';
import { patient } from '../../../test/support/patience.ts';

const page = readFileSync(new URL('../../../docs/operate/fleet.md', import.meta.url), 'utf8');

/** All that a guard and a store do in Redis. */
async function useAll(client: RedisClient, sagaId: string): Promise<void> {
  const store = redisStore(client, patient);
  const guard = storeGuard(store);
  const expiresAtMs = Date.now() + hour;
  const begin = async (turn: number) => await guard.begin(claim({ sagaId, turn, request: 'x' }));
  const one = fenceOf(await begin(1));
  const two = fenceOf(await begin(2));
  const three = fenceOf(await begin(3));
  await guard.finish(one, 'sealed');
  await begin(1);
  await guard.release(two);
  await begin(2);
  await guard.forget(three);
  await guard.claim(`${sagaId}:x`, expiresAtMs);
  const task = { group: sagaId, name: 'task' };
  await store.write(task, { head: 'task', body: 'sealed' }, 0, { expiresAtMs });
  await store.read(task);
  await store.append({ group: sagaId, name: 'ada' }, 'sealed', { expiresAtMs, maxValues: 1 });
  await store.close(sagaId, expiresAtMs);
  const { values } = await store.list(sagaId);
  await store.discard(sagaId, values);
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

  it('[T13] a Redis user needs exactly the permissions of the page on fleets', async () => {
    const rule = /^ *ACL SETUSER sagas on >PASSWORD (.+)$/m.exec(page)?.[1]?.split(' ') ?? [];
    await redis.sendCommand(['ACL', 'SETUSER', 'sagas', 'on', '>PASSWORD', ...rule]);
    const url = server.url.replace('redis://', 'redis://sagas:PASSWORD@');
    for (const [name, connect] of Object.entries(clients)) {
      const { client, close } = await connect(url);
      onTestFinished(() => void close());
      await useAll(client, name);
    }
    const client = createClient({ url });
    await client.connect();
    onTestFinished(() => client.destroy());
    // Each command is needed; `eval` only where Redis has forgotten a script, `info` by ioredis
    // alone.
    for (const word of rule.filter((one) => /^\+(?!@|eval$|info)/.test(one))) {
      const command = word.slice(1);
      await redis.sendCommand(['ACL', 'SETUSER', 'sagas', `-${command}`]);
      await expect(useAll(client, `without-${command}`), command).rejects.toThrow(
        /can't run this command|permissions/,
      );
      await redis.sendCommand(['ACL', 'SETUSER', 'sagas', word]);
    }
  });
});
