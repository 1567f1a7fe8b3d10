/** Serves turns with two of Vercel's dev servers. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeTurns } from '@mcp-saga/example-order/client';
import { startCommand } from '@mcp-saga/example-run-server';
import { install } from '../../../test/support/install.ts';

const installed = await install('runtimes', '@vercel/node@24.0.0', '@vercel/build-utils@14.21.0');
const VERCEL_NODE = createRequire(join(installed, 'package.json')).resolve('@vercel/node');

await takeTurns(async (name, environment) => {
  const server = await startCommand(name, {
    command: process.execPath,
    args: ['dev-server.cjs', 'api/mcp.ts'],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    environment: { ...environment, VERCEL_NODE },
    served: /(?<=Serves at )http:\S+/,
    end: 'SIGTERM',
  });
  return { ...server, url: new URL('/api/mcp', server.url) };
}, '/api/mcp');
