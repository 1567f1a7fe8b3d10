import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey } from '@mcp-saga/server';
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
      audience: 'shop',
      guard: { store: redisStore(await clientWith(), { ...patient, prefix: 'host:' }).guard },
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
    const { guard, tasks, mailbox } = redisStore(await clientWith(options), {
      ...patient,
      prefix: `${name}:`,
    });
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
      await tasks.write(sealed, sealed, 0, Date.now() + hour);
      expect(await tasks.read(sealed)).toMatchObject({ sealed });
      await mailbox.put('a', sealed, sealed, { expiresAt: Date.now() + hour, maxAnswers: 20 });
    }
    const { answers } = await mailbox.list('a');
    expect(answers.map(({ slot, sealed }) => slot === sealed)).toEqual(
      Array.from({ length: 10 }, () => true),
    );
    expect(answers).toHaveLength(10);
  });

  it('[T13] a request that the client repeats after a lost reply counts once', async () => {
    let requests = 0;
    // Each second request runs, and its reply is lost.
    const client = await clientWith(
      { retry: { retries: 3, backoff: () => 1 } },
      { losesReply: () => (requests += 1) % 2 === 1 },
    );
    const { guard, mailbox } = redisStore(client, { ...patient, prefix: 'lost:' });
    const verdict = await guard.begin(claim({ sagaId: 'a' }));
    expect(await guard.finish(fenceOf(verdict), 'sealed')).toBe(true);
    expect(await guard.claim('a:fire', Date.now() + hour)).toBe(true);
    expect(await guard.claim('a:fire', Date.now() + hour)).toBe(false);
    const bounds = { expiresAt: Date.now() + hour, maxAnswers: 1 };
    expect(await mailbox.put('a', 'ada', 'one', bounds)).toBe('stored');
    expect(await mailbox.put('a', 'ada', 'two', bounds)).toBe('taken');
    expect(requests).toBeGreaterThan(10);
  });

  it('sends a script again after the database lost the script, alone and in a pipeline', async () => {
    for (const enableAutoPipelining of [true, false]) {
      const { tasks } = redisStore(await clientWith({ enableAutoPipelining }), {
        ...patient,
        prefix: 'scripts:',
      });
      await redis.script('FLUSH');
      expect(await Promise.all([tasks.read('a'), tasks.read('b')])).toEqual([undefined, undefined]);
    }
  });

  it('[T13] an error contains no sealed value', async () => {
    for (const enableAutoPipelining of [true, false]) {
      const { guard, tasks } = redisStore(
        await clientWith({ token: 'wrong', enableAutoPipelining }),
      );
      const calls = [
        async () => await tasks.write('a', 'SEALED', 0, Date.now() + hour),
        async () => await guard.begin(claim({ sagaId: 'a', request: 'SEALED' })),
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
