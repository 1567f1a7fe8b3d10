import { clockless } from '../../../test/support/shifted-store.ts';
import { absentClientsSuite } from '../../server/test/guards/absent-clients-suite.ts';
import { guardedHostsSuite } from '../../server/test/guards/guarded-hosts-suite.ts';
import { interruptedTurnsSuite } from '../../server/test/guards/interrupted-turns-suite.ts';
import { lateCopiesSuite } from '../../server/test/guards/late-copies-suite.ts';
import { alarmQueue, durableObjectStore } from '@mcp-saga/cloudflare';
import { queueConformance, storeConformance, type QueueUnderTest } from '@mcp-saga/testing/stores';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { startObjects, type Workerd } from './support/objects.ts';
import { patient } from '../../../test/support/patience.ts';

describe('the conformance of stores and queues in Durable Objects', () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startObjects();
  });
  afterAll(() => workerd.close());

  const makeStores = async () => {
    const { namespace, now, pass } = workerd.make();
    return {
      store: durableObjectStore(namespace, patient),
      elsewhere: durableObjectStore(namespace, patient),
      now,
      pass,
    };
  };
  for (const { title, run } of storeConformance(makeStores, { runs: 20 }))
    it(`[T13] ${title}`, run);
  const makeHosts = async () => clockless(await makeStores());
  guardedHostsSuite('by Durable Objects', makeHosts);
  absentClientsSuite('by Durable Objects', makeHosts);
  interruptedTurnsSuite('by Durable Objects', makeHosts);
  lateCopiesSuite('by Durable Objects', makeHosts, { runs: 5 });

  const makeQueue = async (): Promise<QueueUnderTest> => {
    const objects = workerd.make();
    let killed = new Promise<void>(() => undefined);
    return {
      queue: alarmQueue(objects.namespace),
      elsewhere: alarmQueue(objects.namespace),
      now: objects.now,
      pass: (ms) => objects.pass(ms, killed),
      consume: async (deliver) => {
        let kill: (() => void) | undefined;
        killed = new Promise((resolve) => {
          kill = resolve;
        });
        objects.receive = deliver;
        return {
          kill: async () => {
            objects.receive = undefined;
            await objects.abortBusy();
            kill?.();
          },
        };
      },
    };
  };
  for (const { title, run } of queueConformance(makeQueue)) it(title, run);
});
