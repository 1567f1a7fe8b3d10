import { createClient } from '@libsql/client';
import { saga, step, type Program, type SagaStore } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { sqliteStore } from '@mcp-saga/sql';
import { toText, type Contender, type Served, type World } from '../contender.ts';
import type { Refunds } from '../provider.ts';
import { description, input } from '../sdk-tool.ts';

/** What outlives a process. */
export interface Kept {
  readonly provider: Refunds;
  readonly keys: string;
  readonly store?: SagaStore;
}

const definition = { name: 'refund', version: '1', description, input } as const;

/** A refund that can be undone. */
export function undoable(provider: Refunds): Program {
  return saga(definition, function* (order) {
    const { id } = yield* step(
      'pay',
      ({ idempotencyKey }) => provider.refund(order.order, order.euros, idempotencyKey),
      { compensate: ({ result }) => provider.cancel(result.id) },
    );
    return toText(order, id);
  });
}

/** A refund that is not tried again if nobody knows whether it happened. */
function unrepeated(provider: Refunds): Program {
  return saga(definition, function* (order) {
    const { id } = yield* step(
      'pay',
      ({ idempotencyKey }) => provider.refund(order.order, order.euros, idempotencyKey),
      { once: true },
    );
    return toText(order, id);
  });
}

/** A refund without an undo. */
function plain(provider: Refunds): Program {
  return saga(definition, function* (order) {
    const { id } = yield* step('pay', ({ idempotencyKey }) =>
      provider.refund(order.order, order.euros, idempotencyKey),
    );
    return toText(order, id);
  });
}

/** A server whose only user is ada: a key counts only for a user. */
export function serveRefund(
  refund: (provider: Refunds) => Program,
  { provider, keys, store }: Kept,
): SagaServer {
  return serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [refund(provider)],
    keys,
    ...(store === undefined ? {} : { store }),
    auth: { authenticate: () => ({ subject: 'ada', client: 'shop' }) },
    http: { allowedHosts: ['127.0.0.1'] },
  });
}

async function open(
  refund: (provider: Refunds) => Program,
  { provider, keys, database }: World,
  hasStore: boolean,
): Promise<Served> {
  if (!hasStore) return serveRefund(refund, { provider, keys });
  const client = createClient({ url: `file:${database}` });
  await client.execute('PRAGMA journal_mode = WAL');
  const store = sqliteStore(client);
  await store.createTables();
  return serveRefund(refund, { provider, keys, store });
}

/** With a store and a key of the client. */
export const mcpSaga: Contender = {
  name: 'mcp-saga, key and store',
  authorWrote: 'a store, and users',
  hasKey: true,
  open: (world) => open(undoable, world, true),
};

/** The same, for a provider without idempotency keys. */
export const mcpSagaOnce: Contender = {
  name: 'mcp-saga, key, store, `once`',
  authorWrote: 'a store, users, and `once`',
  hasKey: true,
  open: (world) => open(unrepeated, world, true),
};

/** Without a key: the first response is a token, and nothing has happened. */
export const mcpSagaHandshake: Contender = {
  name: 'mcp-saga, no key',
  authorWrote: 'a store, and an undo',
  hasKey: false,
  refundsLater: true,
  open: (world) => open(undoable, world, true),
};

/** The same, but another response is lost. */
export const mcpSagaHandshakeLate: Contender = {
  ...mcpSagaHandshake,
  name: 'mcp-saga, no key, response after the refund lost',
  loses: 'afterRefund',
};

/** Without a key and without an undo, nothing waits. */
export const mcpSagaWithoutUndo: Contender = {
  name: 'mcp-saga, no key, no undo',
  authorWrote: 'a store',
  hasKey: false,
  open: (world) => open(plain, world, true),
};

/** With a key of the client, but nothing that remembers it. */
export const mcpSagaWithoutStore: Contender = {
  name: 'mcp-saga, key, no store',
  authorWrote: 'users',
  hasKey: true,
  open: (world) => open(plain, world, false),
};
