/** One server process of the fleet: shares its keys, its store, and its queue with the others. */
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import type { NewEntry } from '../ledger.ts';
import { openPostgres, openRedis } from './backends.ts';
import { machineName, refundMachine, refundSaga, roles } from './sagas.ts';

const {
  DATABASE_URL = '',
  REDIS_PORT = '',
  LEDGER_URL = '',
  PUBLIC_URL = '',
  PORT = '0',
} = process.env;
const { store, queue, startWorker } =
  REDIS_PORT === '' ? await openPostgres(DATABASE_URL) : openRedis(Number(REDIS_PORT));

async function record(entry: NewEntry): Promise<void> {
  const response = await fetch(LEDGER_URL, { method: 'POST', body: JSON.stringify(entry) });
  if (!response.ok) throw new Error(`The ledger responded ${response.status}.`);
}

/** Reads the user of the session of a browser, or of the access token of a client. */
function userOf({ headers }: Request): string | undefined {
  const [, user] =
    /^session=(\w+)$/.exec(headers.get('cookie') ?? '') ??
    /^Bearer (\w+)$/.exec(headers.get('authorization') ?? '') ??
    [];
  return user;
}

const sagas = serveSagas({
  name: 'shop',
  version: '1.0.0',
  sagas: [refundSaga(record), refundMachine(record)],
  keys: process.env['SAGA_KEYS'],
  store,
  queue,
  limits: { turnBudget: 4_000, maxHold: 1_000, lease: 5_000 },
  url: PUBLIC_URL,
  auth: {
    authenticate: (request) => {
      const user = userOf(request);
      return user === undefined ? undefined : { token: '', clientId: user, scopes: [] };
    },
    principal: (authInfo) => ({
      subject: (authInfo as { readonly clientId: string }).clientId,
      client: 'app',
    }),
    mayAnswer: ({ subject }, by) => Object(by).role === roles[subject],
  },
  hooks: {
    // Not called for repeated responses.
    onTurn: ({ saga, sagaId, turn, status }) => {
      const order = saga === machineName ? saga : sagaId;
      if (status !== 'suspended') void record({ kind: 'end', order, key: String(turn) });
    },
  },
  testing: { environment: 'production' },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(PORT),
  silent: true,
});
await Promise.all([server.ready(), startWorker(sagas)]);
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
