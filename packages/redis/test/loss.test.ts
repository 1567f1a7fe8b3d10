import { redisStore } from '@mcp-saga/redis';
import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  TokenRefused,
  type SagaHost,
  type SagaHostOptions,
  type SagaStore,
  type StepAnswer,
} from '@mcp-saga/server';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { suspended } from '../../server/test/fixtures/host.ts';
import { recordingQueue, type Sent } from '../../server/test/queue/queued.ts';
import { accept, decline } from './support/order.ts';
import { patient } from '../../../test/support/patience.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const hour = 3_600_000;

// Each bullet of "Lost data" in docs/operate/fleet.md has its test here.
describeWithRedis('after Redis has lost its data', () => {
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

  interface Shop {
    readonly hostOf: (options?: Partial<SagaHostOptions>) => SagaHost;
    /** The effects, with their idempotency keys. */
    readonly did: string[];
    /** The messages of the queue. */
    readonly sent: Sent[];
    /** The uncompensated steps of each saga that has ended. */
    readonly settled: unknown[];
    /** Makes the provider fail from here on. */
    readonly failing: { now: boolean };
  }

  function shop(): Shop {
    const did: string[] = [];
    const queue = recordingQueue();
    const settled: unknown[] = [];
    const failing = { now: false };
    const Ok = z.object({ ok: z.boolean() });
    const order = saga({ name: 'order', version: '1' }, function* () {
      const sure = yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step(
        'charge',
        ({ idempotencyKey }) => {
          if (failing.now) throw new Error('503');
          did.push(`charge ${idempotencyKey}`);
        },
        { input: sure, compensate: () => void did.push('refund') },
      );
      yield* elicit('ship', { message: 'Ship?', schema: Ok });
      yield* step('ship', ({ idempotencyKey }) => void did.push(`ship ${idempotencyKey}`), {
        once: true,
      });
      yield* elicit('review', { message: 'Good?', schema: Ok });
      return 'thanks';
    });
    const keys = generateKey();
    const hostOf = (options: Omit<Partial<SagaHostOptions>, 'sagas' | 'guard'> = {}): SagaHost =>
      createSagaHost({
        sagas: [order],
        keys,
        name: 'shop',
        testing: { environment: 'production' },
        store: redisStore(redis, patient),
        queue,
        ...options,
        hooks: {
          onTurn: () => undefined,
          onError: () => undefined,
          onReject: () => undefined,
          onWarning: () => undefined,
          onSettled: ({ uncompensated }) => void settled.push(uncompensated),
        },
      });
    return { hostOf, did, sent: queue.sent, settled, failing };
  }

  /** A store that is not told the time of its host. */
  const untold = (): SagaStore =>
    storeWithGuard(
      (guard) => ({
        begin: ({ now: _now, ...claim }) => guard.begin(claim),
        claim: (key, expiresAt) => guard.claim(key, expiresAt),
      }),
      redisStore(redis, patient),
    );

  /** The last message of the queue. */
  const newest = (sent: readonly Sent[]): Sent => sent.at(-1) as Sent;

  const token = async (host: SagaHost, from: string, answers: StepAnswer[]): Promise<string> =>
    suspended(await host.resume(from, answers)).token;

  it('[T13] [E1] a guard without data repeats an answered request with the same idempotency key', async () => {
    const { hostOf, did } = shop();
    const host = hostOf();
    const { token: first } = suspended(await host.start('order', {}));
    await token(host, first, accept('sure'));
    await token(host, first, accept('sure'));
    expect(did).toHaveLength(1);
    await redis.flushall();
    await token(host, first, accept('sure'));
    expect(did).toHaveLength(2);
    expect(new Set(did).size).toBe(1);
  });

  it('[T13] [E7] a guard without data accepts an older token, and then rejects the newest one', async () => {
    const { hostOf, did } = shop();
    const host = hostOf();
    const { token: first } = suspended(await host.start('order', {}));
    const second = await token(host, first, accept('sure'));
    const third = await token(host, second, accept('ship'));
    await expect(host.resume(second, decline('ship'))).rejects.toThrow(TokenRefused);
    await redis.flushall();
    expect(await host.resume(second, decline('ship'))).toMatchObject({
      compensated: [{ stepId: 'charge' }],
    });
    expect(did.at(-1)).toBe('refund');
    // The older token has taken the turns of the newer one.
    await expect(host.resume(third, accept('review'))).rejects.toThrow(TokenRefused);
  });

  it('[T13] a guard without data runs a step with `once` again for an older token', async () => {
    const { hostOf, did } = shop();
    const host = hostOf();
    const { token: first } = suspended(await host.start('order', {}));
    const second = await token(host, first, accept('sure'));
    await token(host, second, accept('ship'));
    await redis.flushall();
    await token(host, second, accept('ship'));
    const ships = did.filter((effect) => effect.startsWith('ship'));
    expect(ships).toHaveLength(2);
    expect(new Set(ships).size).toBe(1);
  });

  it('[T13] [E9] a guard without data does not report effects of an interrupted turn', async () => {
    const { hostOf, did, failing } = shop();
    const gone = (): Promise<never> => Promise.reject(new Error('killed'));
    const killed = hostOf({
      store: storeWithGuard(
        () => ({ finish: gone, release: gone, forget: gone }),
        redisStore(redis, patient),
      ),
    });
    const { token: first } = suspended(await killed.start('order', {}));
    await expect(killed.resume(first, accept('sure'))).rejects.toMatchObject({
      code: 'guard_down',
    });
    expect(did).toHaveLength(1);
    await redis.flushall();
    failing.now = true;
    const repeated = await hostOf().resume(first, accept('sure'));
    expect(repeated).toMatchObject({ status: 'failed', compensated: [], uncompensated: [] });
    expect(did).toHaveLength(1);
  });

  it('[T13] [E8] a late queue message ends a continued saga after a data loss', async () => {
    const { hostOf, did, sent, settled } = shop();
    let ahead = 0;
    const hosts = {
      testing: { clock: () => Date.now() + ahead },
      store: untold(),
    } satisfies Partial<SagaHostOptions>;
    const host = hostOf(hosts);
    const { token: first } = suspended(await host.start('order', {}));
    const second = await token(host, first, accept('sure'));
    const { message: older } = newest(sent);
    await token(host, second, accept('ship'));
    const effects = [...did];
    ahead = 3 * hour;
    expect(await host.deliver(older)).toMatchObject({ status: 'outdated' });
    expect(did).toEqual(effects);
    await redis.flushall();
    expect(await host.deliver(older)).toMatchObject({ status: 'ended' });
    // The message knows nothing of the later step.
    expect(did).toEqual([...effects, 'refund']);
    expect(settled).toEqual([[]]);
  });

  it('[T13] [E8] `rejectIssuedBefore` rejects older tokens, and the queue undoes their sagas', async () => {
    const { hostOf, did, sent, settled } = shop();
    const host = hostOf();
    const { token: first } = suspended(await host.start('order', {}));
    const second = await token(host, first, accept('sure'));
    const { message } = newest(sent);
    await redis.flushall();
    let ahead = 1;
    const careful = hostOf({
      auth: { rejectIssuedBefore: Date.now() + 1 },
      testing: { clock: () => Date.now() + ahead },
      store: untold(),
    });
    for (const older of [first, second]) {
      await expect(careful.resume(older, accept('ship'))).rejects.toThrow(TokenRefused);
      await expect(careful.cancel(older)).rejects.toThrow(TokenRefused);
    }
    // Too early, the queue undoes nothing either.
    expect(await careful.deliver(message)).toMatchObject({ status: 'waiting' });
    expect(did).toHaveLength(1);
    ahead = 3 * hour;
    expect(await careful.deliver(message)).toMatchObject({ status: 'ended' });
    expect(did).toHaveLength(2);
    expect(did.at(-1)).toBe('refund');
    expect(settled).toEqual([[]]);
  });

  it('[T13] a store without data rejects its tasks as unknown', async () => {
    const store = redisStore(redis, patient);
    const task = { group: 'task', name: 'task' };
    const life = { expiresAtMs: Date.now() + hour };
    await store.write(task, { head: 'task', body: 'sealed' }, 0, life);
    await redis.flushall();
    expect(await store.read(task)).toBeUndefined();
    const later = await store.write(task, { head: 'task', body: 'later' }, 1, life);
    expect(later.status).toBe('other');
  });
});
