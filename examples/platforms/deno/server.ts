import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';
import process from 'node:process';

// What `deno serve` hands to `Deno.serve`.
export default serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});
