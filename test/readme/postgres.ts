// #region postgres
import { createSagaHost } from '@mcp-saga/server';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { buy } from './undo.ts';

export const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
pool.on('error', (error) => console.error(error.message));

const store = postgresStore(pool);
await store.createTables();

export const host = createSagaHost({
  sagas: [buy],
  keys: process.env['SAGA_KEYS'],
  name: 'shop',
  store,
  anonymous: { tasks: 'accept' },
});
// #endregion postgres
