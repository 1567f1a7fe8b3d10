import { redisStore } from '@mcp-saga/redis';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type SagaStore,
  type SagaHost,
} from '@mcp-saga/server';
import { createClient } from 'redis';
import { z } from 'zod';
import { hasRedisServer, startRedis } from '../../support/redis-server.ts';
import { compare } from '../compare.ts';
import { measure, type Candidate, type Effort } from '../harness.ts';
import type { Finding, Row } from '../row.ts';

/** Cost of a turn with a guard relative to one without, and the memory that `memoryStore` holds. */
export const guarded: Row = async ({ effort }) => [
  await compare(
    'guarded-turn',
    [turns('under memoryStore', memoryStore()), turns('without a guard')],
    effort,
  ),
  ...(hasRedisServer() ? [await underRedis(effort)] : []),
  { figure: 'guard-live', ours: await heldBy(effort, false), peers: [] },
  { figure: 'guard-finished', ours: await heldBy(effort, true), peers: [] },
];

const Name = z.object({ name: z.string() });
const answer = { stepId: 'name', result: { action: 'accept', content: { name: 'Ada' } } } as const;

/** Processor time that a guard in Redis adds to a resumed turn, beyond two round trips to Redis. */
async function underRedis(effort: Effort): Promise<Finding> {
  const redis = await startRedis();
  const client = createClient({ url: redis.url });
  await client.connect();
  try {
    const watched = turns('under a guard in Redis', redisStore(client));
    const bare = turns('without a guard');
    const trips: Candidate = {
      name: 'two round trips',
      run: async (times) => {
        for (let count = 0; count < 2 * times; count += 1) await client.ping();
      },
    };
    const timings = await measure([watched, bare, trips], effort);
    const [all, unguarded, pings] = [watched, bare, trips].map(
      ({ name }) => timings.of(name).cpu,
    ) as [number, number, number];
    const peers = [
      { name: bare.name, value: unguarded },
      { name: trips.name, value: pings },
    ];
    return { figure: 'guarded-redis', ours: all - unguarded - pings, peers };
  } finally {
    client.destroy();
    await redis.kill();
  }
}

/** Starts and finishes sagas of two turns. */
function turns(name: string, store?: SagaStore): Candidate {
  const host = hostWith(store);
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) await finish(host, await begin(host));
    },
  };
}

/** Heap bytes that a guard holds per saga, or per turn of an ended saga if `finished`. */
async function heldBy({ rounds }: Effort, finished: boolean): Promise<number> {
  const host = hostWith(memoryStore());
  const sagas = rounds * 100;
  const before = heap();
  const tokens: string[] = [];
  for (let count = 0; count < sagas; count += 1) {
    const token = await begin(host);
    if (finished) await finish(host, token);
    else tokens.push(token);
  }
  const held = heap() - before - tokens.reduce((bytes, token) => bytes + token.length, 0);
  return Math.max(0, held / (finished ? 2 * sagas : sagas));
}

function heap(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function begin(host: SagaHost): Promise<string> {
  const turn = await host.start('bench', {});
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`);
  return turn.token;
}

async function finish(host: SagaHost, token: string): Promise<void> {
  const { status } = await host.resume(token, [answer]);
  if (status !== 'completed') throw new Error(`The saga ${status}`);
}

function hostWith(store: SagaStore | undefined): SagaHost {
  const reuse = store === undefined ? 'ok' : undefined;
  const greets = saga({ name: 'bench', version: '1', reuse }, function* () {
    const { name } = yield* elicit('name', { message: 'Who?', schema: Name });
    return yield* step('greet', () => `Hello ${name}`);
  });
  return createSagaHost({
    sagas: [greets],
    keys: generateKey(),
    name: 'bench',
    testing: { environment: 'production' },
    hooks: { onWarning: () => {}, onTurn: () => {} },
    ...(store === undefined ? {} : { store }),
  });
}
