import { fileURLToPath } from 'node:url';
import { type CommandOptions, type ServerProcess, startCommand } from './start-command.ts';

export interface ServerOptions extends Pick<CommandOptions, 'onLine' | 'signal' | 'end'> {
  /** Folder with the `server.ts` to start, as a URL. */
  readonly folder: URL;
  /**
   * Environment variables, in addition to those of this process. Processes that serve one saga
   * share `SAGA_KEYS`.
   */
  readonly environment: { readonly SAGA_KEYS: string; readonly [name: string]: string };
  /**
   * Options of Node.
   *
   * @default those of this process, such as `--import tsx`
   */
  readonly execArgv?: readonly string[];
}

/**
 * Starts the `server.ts` of an example in a separate process, on a free port of 127.0.0.1.
 *
 * @throws Error with the output if the process ends before the server is ready
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
