import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleForWorkerd } from '../../support/bundle-for-workerd.ts';
import { startMiniflare } from '../../support/miniflare.ts';
import { hasPostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { hasRedisServer, startRedis } from '../../support/redis-server.ts';
import { benchFolder } from '../bench-folder.ts';

/** Compared stores. */
export const storeNames = [
  'memory',
  'redis',
  'postgres',
  'sqlite',
  'd1',
  'durable-objects',
] as const;
/** The name of a store. */
export type StoreName = (typeof storeNames)[number];

/** A database that only the bench uses. */
export interface Database {
  /** Environment variables of the servers that use the database. */
  readonly environment: { readonly BENCH_STORE: StoreName; readonly BENCH_URL: string };
  readonly close: () => Promise<void>;
}

/** `true` if this machine can run the database of a store. */
export function hasDatabase(name: StoreName): boolean {
  if (name === 'redis') return hasRedisServer();
  return name !== 'postgres' || hasPostgresServer();
}

/** Starts the database of a store, without waiting for disk writes. */
export async function startDatabase(name: StoreName): Promise<Database> {
  const open = (url: string, close: () => Promise<void>): Database => ({
    environment: { BENCH_STORE: name, BENCH_URL: url },
    close,
  });
  switch (name) {
    case 'memory':
      return open('', async () => undefined);
    case 'redis': {
      const server = await startRedis();
      return open(server.url, () => server.kill());
    }
    case 'postgres': {
      const server = await startPostgres();
      return open(server.url, () => server.remove());
    }
    case 'sqlite': {
      const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-bench-'));
      return open(`file:${join(folder, 'sagas.db')}`, async () =>
        rmSync(folder, { recursive: true, force: true }),
      );
    }
    case 'd1':
    case 'durable-objects': {
      const script = await bundleForWorkerd(join(benchFolder(), 'load', 'workers', 'stores.ts'));
      const worker = await startMiniflare(script, {
        d1Databases: ['DB'],
        durableObjects: { SAGAS: { className: 'Sagas', useSQLite: true } },
      });
      return open((await worker.ready).href, () => worker.dispose());
    }
  }
}
