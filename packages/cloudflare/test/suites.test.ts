import { guardsOn } from '../../../test/support/shifted-store.ts';
import { absentClientsSuite } from '../../server/test/guards/absent-clients-suite.ts';
import { guardedHostsSuite } from '../../server/test/guards/guarded-hosts-suite.ts';
import { interruptedTurnsSuite } from '../../server/test/guards/interrupted-turns-suite.ts';
import { lateCopiesSuite } from '../../server/test/guards/late-copies-suite.ts';
import { alarmQueue, durableObjectStore } from '@mcp-saga/cloudflare';
import {
  entryStoreConformance,
  guardConformance,
  mailboxConformance,
  queueConformance,
  taskStoreConformance,
} from '@mcp-saga/testing/guard';
import type { QueueUnderTest } from '@mcp-saga/testing/guard';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { startObjects, type Workerd } from './support/objects.ts';
import { patient } from '../../../test/support/patience.ts';

describe('the conformance of stores and queues in Durable Objects', () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startObjects();
  });
  afterAll(() => workerd.close());

  const fresh = () => {
    const { namespace, now, pass } = workerd.make();
    return {
      one: durableObjectStore(namespace, patient),
      other: durableObjectStore(namespace, patient),
      now,
      pass,
    };
  };
  const makeEntries = async () => {
    const { one, other, ...time } = fresh();
    return { store: one.entries, elsewhere: other.entries, ...time };
  };
  for (const { title, run } of entryStoreConformance(makeEntries)) it(`[T13] ${title}`, run);
  const makeGuard = async () => guardsOn(await makeEntries());
  for (const { title, run } of guardConformance(makeGuard, { runs: 20 })) it(`[T13] ${title}`, run);
  guardedHostsSuite('by Durable Objects', makeGuard);
  absentClientsSuite('by Durable Objects', makeGuard);
  interruptedTurnsSuite('by Durable Objects', makeGuard);
  lateCopiesSuite('by Durable Objects', makeGuard, { runs: 5 });

  const makeTasks = async () => {
    const { one, other, ...time } = fresh();
    return { store: one.tasks, elsewhere: other.tasks, ...time };
  };
  for (const { title, run } of taskStoreConformance(makeTasks)) it(title, run);

  const makeMailbox = async () => {
    const { one, other, ...time } = fresh();
    return { mailbox: one.mailbox, elsewhere: other.mailbox, ...time };
  };
  for (const { title, run } of mailboxConformance(makeMailbox)) it(title, run);

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
