import {
  createSagaHost,
  elicit,
  generateKey,
  memoryGuard,
  saga,
  type SagaGuard,
} from '@mcp-saga/server';
import type { GuardClaim } from '@mcp-saga/server/stores';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { isMemoryGuard, stringifyWithToken } from '../../src/token/guard-records.ts';
import { suspended } from '../fixtures/host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { rejectionLog } from '../../../../test/support/known-logs.ts';

const asking = saga({ name: 'asking', version: '1', forks: 'refuse' }, function* () {
  const { ok } = yield* elicit('one', { message: 'One?', schema: z.object({ ok: z.boolean() }) });
  return `said ${ok}`;
});
const keys = generateKey();
const hostOf = (store: SagaGuard) =>
  createSagaHost({ sagas: [asking], keys, audience: 'asking', guard: { store } });
const answers = [{ stepId: 'one', result: { action: 'accept', content: { ok: true } } }];

test('[T13] a guard around memoryGuard() gets sealed requests and responses', async () => {
  const memory = memoryGuard();
  const seen: (string | undefined)[] = [];
  const wrapped: SagaGuard = {
    ...memory,
    begin: (claim: GuardClaim) => (seen.push(claim.request), memory.begin(claim)),
    finish: (fence, response) => (seen.push(response), memory.finish(fence, response)),
  };
  expect([isMemoryGuard(memory), isMemoryGuard(wrapped)]).toEqual([true, false]);
  expect(isMemoryGuard({ ...memory, begin: (claim) => wrapped.begin(claim) })).toBe(false);
  expect(isMemoryGuard({ ...memory, finish: (...kept) => wrapped.finish(...kept) })).toBe(false);
  const host = hostOf(wrapped);
  const { token } = suspended(await host.start('asking', {}));
  const turn = await host.resume(token, answers);
  expect(turn).toMatchObject({ status: 'completed', result: 'said true' });
  expect(seen).toHaveLength(2);
  for (const record of seen) expect(record).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(await host.resume(token, answers)).toEqual(turn);
});

test('[T13] hosts of a process repeat a response of a shared guard in memory, wrapped or not', async () => {
  const memory = memoryGuard();
  const hosts = [
    hostOf(memory),
    hostOf({ ...memory, finish: (...kept) => memory.finish(...kept) }),
  ] as const;
  for (const [one, other] of [hosts, hosts.toReversed()] as const) {
    const { token } = suspended(await one!.start('asking', {}));
    expect(await other!.resume(token, answers)).toEqual(await one!.resume(token, answers));
  }
});

test('[T13] a host refuses an unsealed record that a store made up', async () => {
  expectLogs(rejectionLog('malformed'));
  const memory = memoryGuard();
  const forge: { record: string | undefined } = { record: undefined };
  const host = hostOf({
    ...memory,
    begin: (claim) =>
      forge.record === undefined
        ? memory.begin(claim)
        : { response: forge.record.replace('JTI', claim.jti), wentOn: true },
  });
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
