/** Serves turns with two processes of `deno serve`. */
import { fileURLToPath } from 'node:url';
import { takeTurns } from '@mcp-saga/example-order/client';
import { startCommand } from '@mcp-saga/example-run-server';
import { deno } from '../../../test/runtimes/runtime.ts';

const command = await deno('2.9.6').executable();
await takeTurns((name, environment) =>
  startCommand(name, {
    command,
    args: ['task', 'start'],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    environment: { ...environment, DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0' },
    served: /(?<=Listening on )http:\S+/,
    // The task ends the server.
    end: 'SIGTERM',
  }),
);
