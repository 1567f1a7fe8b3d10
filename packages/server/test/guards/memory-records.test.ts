import { createKeyRing, createSealer, type Claims } from '@mcp-saga/seal';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type SagaStore,
  type SagaTurn,
  type SuspendedTurn,
} from '@mcp-saga/server';
import type { EntryValue } from '@mcp-saga/server/stores';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { coreOf } from '../../src/saga-host.ts';
import { isInMemory } from '../../src/store/memory-store.ts';
import { openResponse, sealResponse } from '../../src/token/guard-records.ts';
import { toSealedSaga } from '../../src/token/sealed-saga.ts';
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

describe.each(['sealed', 'in memory'] as const)('a %s response', (kind) => {
  const ownKeys = generateKey();
  const sealer = (key: string) => createSealer({ ring: createKeyRing(key), audience: 'asking' });
  const other = generateKey();

  /** Responses of a saga with another token, as a host keeps and opens them. */
  async function keptWith(
    toToken: (sagaId: string, claims: Claims) => Promise<string> | string,
  ): Promise<{ readonly turn: SagaTurn; readonly kept: SagaTurn; readonly record: string }> {
    const memory = memoryStore();
    const store = kind === 'sealed' ? { ...memory, write: memory.write.bind(memory) } : memory;
    const host = createSagaHost({ sagas: [asking], keys: ownKeys, name: 'asking', store });
    const parts = coreOf(host);
    const started = suspended(await host.start('asking', {}));
    const sealed = await parts.keys.sealer.open(started.token, { purpose: 'token' });
    const opened = toSealedSaga(sealed, started.token.length);
    const turn = { ...started, token: await toToken(opened.sagaId, opened.claims) };
    const record = await sealResponse(parts, opened, turn);
    const { turn: kept } = await openResponse(parts, opened, { response: record });
    return { turn, kept: kept as SagaTurn, record };
  }

  test.each(['eyJ.-_Aa', 'eyJ..-_Aa.AA', 'aGk', 'h.a b', 'acme~eyJ..AA', 'a\nb', '.'])(
    '[T13] has the same token %j afterwards',
    async (token) => {
      const { turn, kept } = await keptWith(() => token);
      expect(kept).toEqual(turn);
    },
  );

  test('[T13] [T8] has a token of another key of the service afterwards', async () => {
    const { turn, kept } = await keptWith((sagaId, claims) =>
      sealer(other).seal('token', sagaId, claims, [{ bytes: 'state', compress: false }]),
    );
    expect(kept).toEqual(turn);
  });

  test('[T13] is little longer than its token', async () => {
    const { turn, record } = await keptWith((sagaId, claims) =>
      sealer(ownKeys).seal('token', sagaId, claims, [
        { bytes: 'x'.repeat(2_000), compress: false },
      ]),
    );
    const { length } = (turn as SuspendedTurn).token;
    expect(length).toBeGreaterThan(2_700);
    expect(record.length).toBeLessThan(1.3 * length);
  });
});

test('[T11] a long response is stored as it is, and a short one compressed', async () => {
  const memory = memoryStore();
  const store = { ...memory, write: memory.write.bind(memory) };
  const host = createSagaHost({ sagas: [asking], keys, name: 'asking', store });
  const parts = coreOf(host);
  const { token } = suspended(await host.start('asking', {}));
  const opened = toSealedSaga(await parts.keys.sealer.open(token, { purpose: 'token' }), 0);
  const bytesOf = async (length: number): Promise<number> => {
    const result = 'x'.repeat(length);
    const facts = { saga: 'asking', sagaId: opened.sagaId, turn: 1, ignored: [] };
    const record = await sealResponse(parts, opened, { status: 'completed', result, ...facts });
    const { turn } = await openResponse(parts, opened, { response: record });
    expect(turn).toMatchObject({ result });
    return record.length;
  };
  expect(await bytesOf(60_000)).toBeLessThan(2_000);
  expect(await bytesOf(70_000)).toBeGreaterThan(70_000);
});

test('[T11] a saga that has asked after a step takes at most 1,100 bytes of a store', async () => {
  const refund = saga(
    { name: 'refund', version: '1', input: z.object({ order: z.string() }) },
    function* ({ order }) {
      const { id } = yield* step('reserve', () => ({ id: 'r_12345' }));
      const { sure } = yield* elicit('sure', {
        message: `Refund ${order}?`,
        schema: z.object({ sure: z.boolean() }),
      });
      return `${id} ${sure}`;
    },
  );
  const memory = memoryStore();
  const values: EntryValue[] = [];
  const store: SagaStore = {
    ...memory,
    write: (key, value, ...given) => (values.push(value), memory.write(key, value, ...given)),
  };
  const host = createSagaHost({ sagas: [refund], keys, name: 'shop', store });
  suspended(await host.start('refund', { order: 'A-1' }, { idempotencyKey: 'one' }));
  const { head, body = '' } = values.at(-1)!;
  expect(body.length).toBeGreaterThan(500);
  expect(head.length + body.length).toBeLessThanOrEqual(1_100);
});
