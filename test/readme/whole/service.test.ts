import { generateKey, memoryQueue, memoryStore } from '@mcp-saga/server';
import { crashEverywhere, failEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { expect, it, vi } from 'vitest';
import { post } from '../../../packages/server/test/fixtures/raw.ts';
import { refund, serverOf, type Services } from './service.ts';

const payments = new Provider<{ order: string; cents: number }>();
const books = new Provider<string>();
let sent: ((link: string) => void) | undefined;
const services: Services = {
  bank: {
    refund: async (order, cents, key) => {
      payments.do(key, { order, cents });
      return { id: key };
    },
    revoke: async (id) => payments.undo(id),
    revokeByKey: async (key) => payments.undo(key),
  },
  ledger: {
    book: async (order, _, key) => void books.do(key, order),
    strike: async (key) => books.undo(key),
  },
  mail: { send: async (link) => sent?.(link) },
};
const asked = testSaga(refund, {
  input: { order: 'A7', cents: 2_000 },
  services,
  providers: [payments, books],
});
const approved = asked.on.approval('manager', [{ by: 'ann' }]);

it('refunds and books after an approval, and nothing after a denial', async () => {
  expect((await approved.run()).result).toBe('Refunded A7.');
  expect([payments.standing, books.standing]).toEqual([[{ order: 'A7', cents: 2_000 }], ['A7']]);
  const denied = await asked.on.approval('manager', [{ by: 'ann', approved: false }]).run();
  expect([denied.result, payments.standing, books.standing]).toEqual(['Not refunded.', [], []]);
});

// #region test
it('leaves a payment with its booking, or neither, wherever the process dies or a step fails', async () => {
  const check = (): void => expect(books.standing).toHaveLength(payments.standing.length);
  await crashEverywhere(approved, { check });
  await failEverywhere(approved, { check });
});
// #endregion test

it('lets only a manager answer', async () => {
  vi.stubEnv('SAGA_KEYS', generateKey());
  const roles: Readonly<Record<string, readonly string[]>> = { ann: ['manager'], carl: ['clerk'] };
  const server = serverOf({
    store: memoryStore({ olderTokens: 'accept' }),
    queue: memoryQueue(),
    services,
    authenticate: async ({ headers }) => {
      const subject = headers.get('x-user') ?? 'eve';
      return { subject, client: 'shop', roles: roles[subject] ?? [] };
    },
  });
  const link = new Promise<string>((resolve) => (sent = resolve));
  const call = { name: 'refund', arguments: { order: 'B1', cents: 100 } };
  const caller = new AbortController();
  const headers = { 'x-user': 'bob' };
  const waits = server.fetch(
    post('legacy', 'tools/call', call, 1, { headers, signal: caller.signal }),
  );
  const url = await link;
  const open = async (name: string): Promise<number> =>
    (await server.fetch(new Request(url, { headers: { 'x-user': name } }))).status;
  expect([await open('carl'), await open('ann')]).toEqual([403, 200]);
  caller.abort();
  await waits.catch(() => undefined);
  vi.unstubAllEnvs();
});
