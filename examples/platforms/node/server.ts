import { createServer, type RequestListener } from 'node:http';
import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { serveSagas } from '@mcp-saga/server/serve';
import { toNodeHandler } from '@modelcontextprotocol/node';

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});

// Its types know no exactOptionalPropertyTypes.
const server = createServer(toNodeHandler(sagas) as RequestListener);
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as { readonly port: number };
  console.log(`MCP is served at http://127.0.0.1:${port}/mcp`);
});
// A process that is replaced answers what it has been asked. It has nothing else to keep.
process.once('SIGTERM', () => server.close(() => process.exit()));
