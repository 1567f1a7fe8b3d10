import { Redis } from 'ioredis';
import { redisStore, type RedisClient } from '@mcp-saga/redis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  describeWithRedis,
  startRedis,
  type RedisServer,
} from '../../../test/support/redis-server.ts';
import { absentClientsSuite } from '../../server/test/guards/absent-clients-suite.ts';
import { guardedHostsSuite } from '../../server/test/guards/guarded-hosts-suite.ts';
import { interruptedTurnsSuite } from '../../server/test/guards/interrupted-turns-suite.ts';
import { lateCopiesSuite } from '../../server/test/guards/late-copies-suite.ts';
import { lostClientsSuite } from '../../server/test/guards/lost-clients-suite.ts';
import { repeatedTurnsSuite } from '../../server/test/guards/repeated-turns-suite.ts';
import { storeConformance } from '../../testing/src/stores.ts';
import { wokenSagasSuite } from '../../server/test/guards/woken-sagas-suite.ts';
import { clients, type Connected } from './support/clients.ts';
import { pass } from './support/pass.ts';
import { clockless, shiftedStores } from '../../../test/support/shifted-store.ts';
import { patient } from '../../../test/support/patience.ts';

describeWithRedis('what every store does, in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let made = 0;

  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });

  for (const [name, connect] of Object.entries(clients)) {
    describe(name, () => {
      const connected: Connected[] = [];
      beforeAll(async () => {
        connected.push(await connect(server.url), await connect(server.url));
      });
      afterAll(() => connected.map(({ close }) => close()));

      const fresh = () => {
        made += 1;
        const prefix = `test-${made}:`;
        const [one, other] = connected.map(({ client }) => client);
        if (one === undefined || other === undefined) throw new Error('not connected');
        return { prefix, one, other, pass: (ms: number) => pass(redis, prefix, ms) };
      };
      const makeStores = async () => {
        const { prefix, one, other, pass: passInRedis } = fresh();
        const storeBy = (client: RedisClient) => redisStore(client, { ...patient, prefix });
        return shiftedStores(storeBy(one), storeBy(other), passInRedis);
      };
      for (const { title, run } of storeConformance(makeStores, { runs: 50 }))
        it(`[T13] ${title}`, run);
      const makeHosts = async () => clockless(await makeStores());
      guardedHostsSuite(`by ${name}`, makeHosts);
      absentClientsSuite(`by ${name}`, makeHosts);
      repeatedTurnsSuite(`by ${name}`, makeHosts);
      wokenSagasSuite(`by ${name}`, makeHosts);
      lateCopiesSuite(`by ${name}`, makeHosts);
      lostClientsSuite(`by ${name}`, makeHosts);
      interruptedTurnsSuite(`by ${name}`, makeHosts);
    });
  }
});
