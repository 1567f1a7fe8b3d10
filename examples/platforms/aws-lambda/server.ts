import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import type { ServerRequest } from 'srvx';
import { toLambdaHandler } from 'srvx/aws-lambda';
import { iamAuth, principal } from './iam.ts';

const { DATABASE_URL, SAGA_KEYS } = process.env;
// An environment of Lambda serves one event at a time, so one connection is enough.
const pool = DATABASE_URL ? new Pool({ connectionString: DATABASE_URL, max: 1 }) : undefined;
// The database may close the connection of a frozen environment. The next query opens another one.
pool?.on('error', (error) => console.error(error.message));

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: SAGA_KEYS,
  ...(pool && { store: postgresStore(pool) }),
  auth: {
    authenticate: (request: ServerRequest) =>
      iamAuth(request.runtime?.awsLambda?.event.requestContext),
    principal,
  },
});

export const handler: ReturnType<typeof toLambdaHandler> = toLambdaHandler({
  fetch: (request) => sagas.fetch(request),
});
