import { sqliteStore, type D1Like, type SqlValue } from '@mcp-saga/sql';
import { startMiniflare, type Miniflare } from '../../../../test/support/miniflare.ts';
import type { Connected } from './databases.ts';

// Runs a statement by the binding.
const script = `export default {
  async fetch(request, env) {
    const { sql, values } = await request.json();
    try {
      return Response.json(await env.DB.prepare(sql).bind(...values).all());
    } catch ({ message }) {
      return Response.json({ message }, { status: 500 });
    }
  }
}`;

async function startWorker(): Promise<Miniflare> {
  return await startMiniflare(script, { d1Databases: ['DB'] });
}

/** A database of D1 in workerd, by miniflare. */
export async function startD1(): Promise<{
  readonly database: D1Like;
  readonly close: () => Promise<void>;
}> {
  const worker = await startWorker();
  return { database: (await worker.getD1Database('DB')) as D1Like, close: () => worker.dispose() };
}

/**
 * D1, as two Workers see it. The statements run in the Worker: the proxy that miniflare gives to
 * Node breaks under hundreds of statements at once.
 */
export async function connectD1(): Promise<Connected> {
  const worker = await startWorker();
  const url = await worker.ready;
  const ask = async (
    sql: string,
    values: readonly SqlValue[],
  ): Promise<{ readonly results: unknown[] }> => {
    const body = JSON.stringify({ sql, values });
    const response = await fetch(url, { method: 'POST', body, headers: { connection: 'close' } });
    const reply = (await response.json()) as {
      readonly results: unknown[];
      readonly message?: string;
    };
    if (!response.ok) throw new Error(reply.message);
    return reply;
  };
  const database: D1Like = {
    prepare: (sql) => ({ bind: (...values) => ({ all: () => ask(sql, values) }) }),
    batch: () => undefined,
  };
  return {
    stores: (options) => [sqliteStore(database, options), sqliteStore(database, options)],
    run: (sql) => ask(sql, []),
    close: () => worker.dispose(),
  };
}
