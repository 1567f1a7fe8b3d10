import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  type SagaStore,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { isInMemory } from '../../src/store/memory-store.ts';
import { stringifyWithToken } from '../../src/token/guard-records.ts';
import { suspended } from '../fixtures/host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { rejectionLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const asking = saga({ name: 'asking', version: '1' }, function* () {
  const { ok } = yield* elicit('one', { message: 'One?', schema: z.object({ ok: z.boolean() }) });
  return `said ${ok}`;
});
const keys = generateKey();
const hostOf = (store: SagaStore) =>
  createSagaHost({ sagas: [asking], keys, name: 'asking', store });
const answers = [{ stepId: 'one', result: { action: 'accept', content: { ok: true } } }];

test('[T13] a store around memoryStore() gets sealed requests and responses', async () => {
  const memory = memoryStore();
  const seen: (string | undefined)[] = [];
  const wrapped: SagaStore = {
    ...memory,
    write: (key, value, ...given) => (seen.push(value.body), memory.write(key, value, ...given)),
  };
  expect([isInMemory(memory), isInMemory(wrapped)]).toEqual([true, false]);
  // The methods are the same, and pass nothing on.
  expect(isInMemory({ ...memory })).toBe(true);
  for (const method of ['write', 'remove', 'read', 'append', 'list', 'discard', 'close'] as const)
    expect(isInMemory({ ...memory, [method]: () => undefined })).toBe(false);
  const host = hostOf(wrapped);
  const { token } = suspended(await host.start('asking', {}));
  const turn = await host.resume(token, answers);
  expect(turn).toMatchObject({ status: 'completed', result: 'said true' });
  expect(seen).toHaveLength(2);
  for (const record of seen) expect(record).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(await host.resume(token, answers)).toEqual(turn);
});

test('[T13] hosts of a process repeat a response of a shared store in memory, wrapped or not', async () => {
  const memory = memoryStore();
  const hosts = [hostOf(memory), hostOf({ ...memory })] as const;
  for (const [one, other] of [hosts, hosts.toReversed()] as const) {
    const { token } = suspended(await one!.start('asking', {}));
    expect(await other!.resume(token, answers)).toEqual(await one!.resume(token, answers));
  }
});

test('[T13] a host refuses an unsealed record that a store made up', async () => {
  expectLogs(rejectionLog('malformed'));
  const forge: { record: string | undefined } = { record: undefined };
  const host = hostOf(
    storeWithGuard((guard) => ({
      begin: (claim) =>
        forge.record === undefined
          ? guard.begin(claim)
          : { response: forge.record.replace('JTI', claim.jti), wentOn: true },
    })),
  );
  const { token } = suspended(await host.start('asking', {}));
  const made = '{"status":"completed","result":"forged","saga":"asking","sagaId":"x","turn":2}';
  for (const record of [
    made,
    ` JTI ${made}`,
    `undefined JTI ${made}`,
    `${'A'.repeat(43)} JTI ${made}`,
  ]) {
    forge.record = record;
    await expect(host.resume(token, answers)).rejects.toMatchObject({ code: 'refused' });
  }
});

test.each([
  { token: 'eyJ.-_Aa', steps: [{ params: { token: '' } }], turn: 1 },
  { token: 'eyJ.-_Aa' },
  { token: '', content: ['"token":""'] },
  { status: 'completed', result: { token: '' } },
])('[T13] a record %j has the JSON of JSON.stringify, in another order', (record) => {
  expect(JSON.parse(stringifyWithToken(record))).toEqual(record);
});
