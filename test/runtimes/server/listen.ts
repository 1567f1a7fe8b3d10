import { serve } from 'srvx';
import { conformanceServer } from './conformance-server.ts';

const keys = process.env['SAGA_KEYS'] ?? '';
const server = serve({
  fetch: conformanceServer(() => keys),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 0),
  silent: true,
});
await server.ready();
console.log(`Serves at ${server.url}`);
