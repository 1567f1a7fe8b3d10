// Replaces `@mcp-saga/example-run-server` in the bundle of `pnpm start`.
import type { ServerOptions } from '../../examples/run-server/start-server.ts';
import { startCommand, type ServerProcess } from '../../examples/run-server/start-command.ts';

export { connect } from '../../examples/run-server/connect.ts';

/** Starts the bundled server of the quickstart. */
export async function startServer(name: string, options: ServerOptions): Promise<ServerProcess> {
  const { folder: _, environment, ...rest } = options;
  const server = process.env['QUICKSTART_SERVER'];
  if (server === undefined) throw new Error('QUICKSTART_SERVER is not set');
  return await startCommand(name, {
    ...rest,
    command: process.execPath,
    args: ['--enable-source-maps', server],
    cwd: process.cwd(),
    environment: { ...environment, PORT: '0' },
    served: /(?<=^MCP is served at )http:\S+/,
  });
}
