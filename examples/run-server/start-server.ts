import { fileURLToPath } from 'node:url';
import { type CommandOptions, type ServerProcess, startCommand } from './start-command.ts';

export interface ServerOptions extends Pick<CommandOptions, 'onLine' | 'signal' | 'end'> {
  /** The folder of the example, as a URL: its `server.ts` is started. */
  readonly folder: URL;
  /** Its environment, beside this process's own: `SAGA_KEYS`, which processes that serve a saga in turns share. */
  readonly environment: { readonly SAGA_KEYS: string; readonly [name: string]: string };
  /**
   * Options of Node.
   *
   * @default those of this process, such as `--import tsx`
   */
  readonly execArgv?: readonly string[];
}

/**
 * Starts the `server.ts` of an example in a process of its own, on a free port of 127.0.0.1.
 *
 * @throws Error with what the process said when it ends before it serves
 */
export async function startServer(name: string, options: ServerOptions): Promise<ServerProcess> {
  const { folder, environment, execArgv = process.execArgv, ...rest } = options;
  const endWithParent = new URL('end-with-parent.js', import.meta.url).href;
  return await startCommand(name, {
    ...rest,
    command: process.execPath,
    args: [...execArgv, '--import', endWithParent, 'server.ts'],
    cwd: fileURLToPath(folder),
    environment: { ...environment, PORT: '0' },
    served: /(?<=^MCP is served at )http:\S+/,
  });
}
