import { afterAll, beforeAll } from 'vitest';
import {
  describeWithPostgres,
  startPostgres,
  type PostgresServer,
} from '../../../test/support/postgres-server.ts';
import { connectD1 } from './support/d1.ts';
import { connectLibsql, connectNeon, connectPg, connectPglite } from './support/databases.ts';
import { storeSuites } from './support/suites.ts';

describeWithPostgres('what every store does, in PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  storeSuites('pg', () => connectPg(server.url));
  storeSuites('Neon over HTTP', () => connectNeon(server.url), { runs: 10, hosts: false });
});

storeSuites('what every store does, in PGlite', connectPglite, { runs: 20, hosts: false });
storeSuites('what every store does, in libSQL', connectLibsql, { runs: 20 });
storeSuites('what every store does, in D1', connectD1, { runs: 10, hosts: false });
