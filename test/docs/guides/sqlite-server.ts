import { DatabaseSync } from 'node:sqlite';
import { serveSagas } from '@mcp-saga/server/serve';
import { sqliteStore } from '@mcp-saga/sql';
import { serve } from 'srvx';
import { buy } from './payments.ts';

const database = new DatabaseSync('sagas.db');
database.exec('PRAGMA busy_timeout = 5000');
database.exec('PRAGMA journal_mode = WAL');
const store = sqliteStore(database);
await store.createTables();

const sagas = serveSagas({
  name: 'shop',
  version: '1.0.0',
  sagas: [buy], // the keys are those of SAGA_KEYS
  store,
  http: { allowedHosts: ['localhost', '127.0.0.1'] },
});

serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' }); // on PORT, or 3000
