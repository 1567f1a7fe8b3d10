import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});

// What `bun server.ts` hands to `Bun.serve`; its port comes from PORT.
export default {
  fetch: (request: Request): Promise<Response> => sagas.fetch(request),
  hostname: process.env['HOST'],
};
