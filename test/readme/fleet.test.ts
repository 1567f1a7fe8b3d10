import { readFileSync } from 'node:fs';
import { redisStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey, type StepAnswer, type SuspendedTurn } from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { storeWithGuard } from '../support/store-with-guard.ts';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { describeWithRedis, startRedis, type RedisServer } from '../support/redis-server.ts';
import { deploy } from './deploy.ts';
import { expectLogs } from '../support/logs.ts';
import { rejectionLog } from '../support/known-logs.ts';

const page = readFileSync(new URL('../../docs/operate/fleet.md', import.meta.url), 'utf8');
// The table of other stores has a test of its own.
const [sizing = ''] = page.split('### Answers from outside, and stores in SQL');
const hour = 3_600_000;

// Another allocator, or another version of Redis, rounds otherwise.
const tolerance = 0.2;

const form = (
  stepId: string,
  content: { readonly [field: string]: string | boolean },
): StepAnswer[] => [{ stepId, result: { action: 'accept', content } }];

describeWithRedis('the page on fleets', () => {
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

  /** Returns the bytes of all keys with a prefix. */
  async function sizes(pattern: string): Promise<number> {
    const keys = await redis.keys(pattern);
    const bytes = await Promise.all(keys.map((key) => redis.memoryUsage(key, { SAMPLES: 0 })));
    return bytes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  }

  it('[T13] [P2] the page on fleets shows a host with a shared guard', async () => {
    expectLogs(rejectionLog('used'));
    vi.stubEnv('REDIS_URL', server.url);
    vi.stubEnv('SAGA_KEYS', generateKey());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client, host } = await import('./fleet.ts');
    onTestFinished(() => client.destroy());
    const turn = (await host.start('buy', {})) as SuspendedTurn;
    expect(await host.resume(turn.token, form('sure', { sure: true }))).toMatchObject({
      result: 'On its way',
    });
    await expect(host.resume(turn.token, form('sure', { sure: false }))).rejects.toThrow(
      'Invalid or expired',
    );

    // The runbook: what a token says, and what the guard knows of its turn.
    const seen = await host.inspect(turn.token);
    expect(Object.keys(seen).toSorted()).toEqual(
      [...page.matchAll(/^\| `inspect\.(\w+)`/gm)].map(([, name]) => String(name)).toSorted(),
    );
    const entry = await redis.get(`mcp-saga:{${seen.sagaId}}:turn:${seen.claims.turn}`);
    const [, json = ''] = /^(?:\S+ ){5}(.*)$/.exec(entry ?? '') ?? [];
    const known = JSON.parse(json) as object;
    const [, ofTurns = ''] = page.split('ask Redis: `GET');
    const fields = [...ofTurns.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name ?? '');
    expect(fields).toEqual(expect.arrayContaining(Object.keys(known)));
    expect(known).toMatchObject({ jti: seen.claims.jti, action: 'resume', status: 'finished' });
  });

  it('[T13] the page on fleets states bytes and round trips of a saga', async () => {
    const store = redisStore(redis, { prefix: 'sizes:' });
    const guard = storeGuard(store);
    const brought: string[] = [];
    const begin: typeof guard.begin = (asked) => {
      brought.push(asked.request ?? '');
      return guard.begin(asked);
    };
    const host = createSagaHost({
      sagas: [deploy],
      keys: generateKey(),
      name: 'deployer',
      store: storeWithGuard(() => ({ begin }), store),
    });
    const one = (await host.start('deploy', { service: 'web' })) as SuspendedTurn;
    await redis.sendCommand(['CONFIG', 'RESETSTAT']);
    const two = (await host.resume(
      one.token,
      form('target', { target: 'production' }),
    )) as SuspendedTurn;
    const calls = /cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1];
    const answer = {
      role: 'assistant',
      model: 'any',
      content: { type: 'text', text: 'Yes, all is green' },
    };
    const three = await host.resume(two.token, [{ stepId: 'safety', result: answer }]);

    const claim = { sagaId: one.sagaId, turn: 9, jti: 'x'.repeat(16), action: 'resume' } as const;
    const used = { digest: 'x'.repeat(43), leaseMs: hour, expiresAt: Date.now() + hour };
    await guard.begin({ ...claim, ...used, request: brought[0] ?? '' });
    await guard.claim(`${one.sagaId}:${'x'.repeat(43)}`, Date.now() + hour);
    const sealed = 'x'.repeat(2_000);
    const life = { expiresAtMs: Date.now() + hour };
    const task = { group: one.sagaId, name: 'task' };
    await store.write(task, { head: 'task', body: sealed }, 0, life);

    const measured: { readonly [what: string]: number } = {
      'a request to Redis, for each turn': Number(calls),
      'its token in turn 1': one.token.length,
      'a turn while it runs': await sizes('sizes:*:turn:9*'),
      'that a token was used': await sizes('sizes:*:turn:1'),
      'the response of turn 1': await sizes('sizes:*:turn:1:body'),
      'the response of turn 2, a result': await sizes('sizes:*:turn:2:body'),
      'all of the saga, once it has ended': await sizes('sizes:*:turn:[12]*'),
      'the same, when its tokens have expired': await sizes('sizes:*:turn:[12]'),
      'a step that runs once': await sizes('sizes:*:once:*'),
      'a task of 2,000 sealed bytes': await sizes('sizes:*:task*'),
    };
    // The formula: never too little, and not much too much.
    const [, fixed = '', factor = ''] = /\(([\d,]+) bytes \+ ([\d.]+) × /.exec(page) ?? [];
    for (const [turn, response] of [
      [1, two.token + JSON.stringify(two.steps)],
      [2, JSON.stringify(three.status === 'completed' && three.result)],
    ] as const) {
      const counted = Number(fixed.replace(',', '')) + Number(factor) * response.length;
      const taken = await sizes(`sizes:*:turn:${turn}*`);
      expect(counted / taken, `turn ${turn}: counted ${counted}, taken ${taken}`).toBeGreaterThan(
        0.95,
      );
      expect(counted / taken, `turn ${turn}: counted ${counted}, taken ${taken}`).toBeLessThan(1.4);
    }
    const said = Object.fromEntries(
      [...sizing.matchAll(/^\| ([^|]+?) +\| +([\d,]+) +\|/gm)].map(([, what = '', figure = '']) => [
        what,
        Number(figure.replaceAll(',', '')),
      ]),
    );
    expect(Object.keys(said)).toEqual(Object.keys(measured));
    for (const [what, figure] of Object.entries(measured)) {
      const close = Math.abs((said[what] ?? 0) - figure) <= figure * tolerance;
      expect(close, `${what}: measured ${figure}, said ${said[what]}`).toBe(true);
    }
  });
});
