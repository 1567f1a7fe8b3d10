import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { it, onTestFinished } from 'vitest';
import { startFaultProxy } from '../../../test/support/fault-proxy.ts';
import { expectSoundUnderFaults } from '../../../test/support/faulty-store.ts';
import { describeWithPostgres, startPostgres } from '../../../test/support/postgres-server.ts';
import { pass } from './support/pass.ts';
import { patient } from '../../../test/support/patience.ts';

describeWithPostgres('stores in PostgreSQL behind a proxy', () => {
  it('[T13] keep their promises if PostgreSQL loses requests, replies, and connections', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const proxy = await startFaultProxy(server.port);
    onTestFinished(() => proxy.close());
    const poolAt = (port: number): Pool => {
      const pool = new Pool({
        connectionString: server.url.replace(`:${server.port}`, `:${port}`),
      });
      pool.on('error', () => undefined);
      onTestFinished(() => void pool.end());
      return pool;
    };
    const directPool = poolAt(server.port);
    const direct = postgresStore(directPool, patient);
    await direct.createTables();
    await expectSoundUnderFaults(
      {
        store: postgresStore(poolAt(proxy.port), { timeout: 100 }),
        direct,
        proxy,
        pass: (ms) => pass((sql) => directPool.query(sql), 'mcp_saga_', ms),
      },
      25,
    );
  });
});
