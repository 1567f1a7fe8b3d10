import { approval, createSagaHost, generateKey, saga } from '@mcp-saga/server';
import { redisStore, type IoRedisLike } from '@mcp-saga/redis';
import type { EntryKey } from '@mcp-saga/server/stores';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { patient } from '../../../test/support/patience.ts';

const hour = 3_600_000;
const charge = { to: 'ada', limit: 1_000 };
const at = (group: string): EntryKey => ({ group, name: 'n' });

/** A client that loses the reply of the script that sends a text. */
function losing(redis: Redis, text: string): IoRedisLike {
  const call =
    (method: 'eval' | 'evalsha') =>
    async (...args: [string, number, ...string[]]): Promise<unknown> => {
      const reply = await redis[method](...args);
      if (args.includes(text)) throw new Error('Command timed out');
      return reply;
    };
  return { eval: call('eval'), evalsha: call('evalsha') };
}

describeWithRedis('the bytes of a principal in Redis', () => {
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
  const until = (): number => Date.now() + hour;

  // The link of a reminder is the same, and so is its sealed ticket.
  it('the ticket of a link is charged once, however often a reminder sends the link', async () => {
    let now = Date.now();
    const sent: string[] = [];
    const refund = saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
      yield* approval('manager', {
        message: 'Refund 10 €?',
        timeout: 24 * hour,
        remindEvery: 60_000,
        deliver: ({ url }) => void sent.push(url),
      });
      return '';
    });
    const host = createSagaHost({
      sagas: [refund],
      keys: generateKey(),
      name: 'shop',
      store: redisStore(redis, patient),
      url: 'https://shop.example',
      limits: { maxHold: 0 },
      testing: { environment: 'production', clock: () => now },
      hooks: { onWarning: () => undefined, onTurn: () => undefined },
    });
    const caller = { principal: { subject: 'ada', client: 'app' } };
    let turn = await host.start('refund', {}, { caller });
    for (let reminder = 0; reminder < 4 && turn.status === 'suspended'; reminder += 1) {
      now += 60_000;
      turn = await host.resume(turn.token, [], { caller });
    }
    expect(sent.length).toBeGreaterThan(3);
    expect(new Set(sent).size).toBe(1);
    const tickets = await redis.keys('*:ticket:body');
    expect(tickets).toHaveLength(1);
    const [charges = ''] = await redis.keys('*:charges');
    const [, counted] = ((await redis.get(charges)) ?? '').split(':');
    expect(Number(counted)).toBe(await redis.strlen(tickets[0] ?? ''));
  });

  it('a value whose reply was lost is charged while it is stored, and no other is uncharged with it', async () => {
    const store = redisStore(redis, patient);
    const bounds = { expiresAtMs: until(), maxValues: 9, chargeTo: 'ada' };
    await store.append({ group: 'a', name: 'one' }, 'x'.repeat(1_000), bounds);
    const lost = 'y'.repeat(900);
    const lossy = redisStore(losing(redis, lost), patient);
    await expect(async () =>
      lossy.append({ group: 'a', name: 'two' }, lost, bounds),
    ).rejects.toThrow('timed out');
    expect((await store.list('a')).values).toHaveLength(2);
    await store.discard('a', [{ name: 'two', value: lost }]);
    // 'one' is still there, with 1,000 bytes.
    const written = await store.write(at('g'), { head: 'h' }, 0, { expiresAtMs: until(), charge });
    expect(written.status).toBe('full');
  });
});
