import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { root } from '../support/command.ts';
import type { Server } from './scenario.ts';

/** What a process of a contender is told. */
export interface ProcessOptions {
  /** Name of the contender. */
  readonly name: string;
  /** URL of the provider. */
  readonly provider: string;
  /** Path of a SQLite file. */
  readonly database: string;
  /** Value of SAGA_KEYS. */
  readonly keys: string;
  /** Folder with the packages of the contender. */
  readonly packages: string;
}

/**
 * Starts the server of a contender in a process of its own.
 *
 * @param node - path of a Node that runs TypeScript
 */
export async function startProcess(node: string, options: ProcessOptions): Promise<Server> {
  const file = fileURLToPath(new URL('server-process.ts', import.meta.url));
  const child = fork(file, [JSON.stringify(options)], {
    execPath: node,
    execArgv: [],
    // Later processes start from the compiled code of this one.
    env: { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled') },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const said = text(child.stderr!);
  const ended = once(child, 'exit');
  const port = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (port === undefined) throw new Error(`The server ended at its start:\n${await said}`);
  return {
    url: `http://127.0.0.1:${String(port[0])}/mcp`,
    fetch: (request) => fetch(request),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
