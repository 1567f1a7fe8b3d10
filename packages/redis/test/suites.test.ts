import { Redis } from 'ioredis';
import { redisStore, type RedisClient } from '@mcp-saga/redis';
import type { EntryStore } from '@mcp-saga/server/stores';
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
import {
  entryStoreConformance,
  guardConformance,
  mailboxConformance,
  taskStoreConformance,
} from '../../testing/src/guard.ts';
import { wokenSagasSuite } from '../../server/test/guards/woken-sagas-suite.ts';
import { connect as connectStore } from '../src/connect.ts';
import { entriesOn } from '../src/redis-entry-store.ts';
import { clients, type Connected } from './support/clients.ts';
import { pass } from './support/pass.ts';
import { guardsOn, shiftedStores } from '../../../test/support/shifted-store.ts';
import { patient } from '../../../test/support/patience.ts';

describeWithRedis('what every guard and store does, in Redis', () => {
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
        return { prefix, one, other, now: Date.now, pass: (ms: number) => pass(redis, prefix, ms) };
      };
      const makeEntries = async () => {
        const { prefix, one, other, pass: passInRedis } = fresh();
        const entriesBy = (client: RedisClient): EntryStore =>
          entriesOn(connectStore(client, { ...patient, prefix }));
        return shiftedStores(entriesBy(one), entriesBy(other), passInRedis);
      };
      for (const { title, run } of entryStoreConformance(makeEntries)) it(`[T13] ${title}`, run);
      const makeGuard = async () => guardsOn(await makeEntries());
      for (const { title, run } of guardConformance(makeGuard, { runs: 50 }))
        it(`[T13] ${title}`, run);
      guardedHostsSuite(`by ${name}`, makeGuard);
      absentClientsSuite(`by ${name}`, makeGuard);
      repeatedTurnsSuite(`by ${name}`, makeGuard);
      wokenSagasSuite(`by ${name}`, makeGuard);
      lateCopiesSuite(`by ${name}`, makeGuard);
      lostClientsSuite(`by ${name}`, makeGuard);
      interruptedTurnsSuite(`by ${name}`, makeGuard);
      const makeStore = async () => {
        const { prefix, one, other, ...time } = fresh();
        return {
          store: redisStore(one, { ...patient, prefix }).tasks,
          elsewhere: redisStore(other, { ...patient, prefix }).tasks,
          ...time,
        };
      };
      for (const { title, run } of taskStoreConformance(makeStore)) it(title, run);
      const makeMailbox = async () => {
        const { prefix, one, other, ...time } = fresh();
        return {
          mailbox: redisStore(one, { ...patient, prefix }).mailbox,
          elsewhere: redisStore(other, { ...patient, prefix }).mailbox,
          ...time,
        };
      };
      for (const { title, run } of mailboxConformance(makeMailbox)) it(title, run);
    });
  }
});
