import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { openStore } from '@mcp-saga/example-order/store';
import { serveSagas } from '@mcp-saga/server/serve';
import process from 'node:process';

// `deno serve` passes the default export to `Deno.serve`.
export default serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...(await openStore(process.env)),
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});
