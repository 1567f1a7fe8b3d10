/** Serves turns with two processes of Bun. */
import { fileURLToPath } from 'node:url';
import { takeTurns } from '@mcp-saga/example-order/client';
import { startCommand } from '@mcp-saga/example-run-server';
import { bun } from '../../../test/runtimes/runtime.ts';

const command = await bun('1.4.5').executable();
await takeTurns((name, environment) =>
  startCommand(name, {
    command,
    args: ['server.ts'],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    environment: { ...environment, HOST: '127.0.0.1', PORT: '0' },
    served: /(?<=Started .*server: )http:\S+/,
  }),
);
