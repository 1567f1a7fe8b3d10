import { createServer, type RequestListener } from 'node:http';
import { signedIn } from '@mcp-saga/example-order/bearer-auth';
import { order } from '@mcp-saga/example-order/saga';
import { openStore } from '@mcp-saga/example-order/store';
import { serveSagas } from '@mcp-saga/server/serve';
import { toNodeHandler } from '@modelcontextprotocol/node';

const sagas = serveSagas({
  name: 'orders',
  version: '1.0.0',
  sagas: [order],
  keys: process.env['SAGA_KEYS'],
  ...(await openStore(process.env)),
  ...signedIn(process.env['OAUTH_ISSUER'], process.env['OAUTH_RESOURCE']),
});

// The types of the SDK do not support exactOptionalPropertyTypes.
const server = createServer(toNodeHandler(sagas) as RequestListener);
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as { readonly port: number };
  console.log(`MCP is served at http://127.0.0.1:${port}/mcp`);
});
// Answers open requests before the process ends. The process holds no other state.
process.once('SIGTERM', () => server.close(() => process.exit()));
