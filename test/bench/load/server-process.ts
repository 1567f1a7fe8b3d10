import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { benchFolder } from '../bench-folder.ts';
import type { Question, Usage } from './usage.ts';

/** Available servers: files in the folder `servers`. */
export type ServerName =
  | 'saga'
  | 'saga-1000'
  | 'saga-at-once'
  | 'by-hand'
  | 'by-hand-memoized'
  | 'by-hand-at-once'
  | 'trivial'
  | 'node-http'
  | 'sessions'
  | 'guarded'
  | 'outside';

/** A server under load, in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** Returns the usage after a garbage collection. */
  memory(): Promise<Usage>;
  /** Returns the current usage. */
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/** Options for starting a server. */
export interface RunOptions {
  /** Additional flags of Node. */
  readonly flags?: readonly string[];
  /** Environment variables, in addition to those of this process. */
  readonly environment?: { readonly [name: string]: string };
}

/** Bundles a server and starts it with Node, like the rows of the bench. */
export async function startServer(
  name: ServerName,
  options: RunOptions = {},
): Promise<ServerProcess> {
  return await forkServer(await bundleServer(name), options);
}

// Not bundled: only servers with a database load them.
const clients = ['@libsql/client', 'bullmq', 'pg', 'pg-boss', 'redis'];

/** Bundles a server into a file in a folder of its own. */
export async function bundleServer(name: ServerName): Promise<string> {
  const folder = benchFolder();
  const cache = join(folder, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, 'load-'));
  await build({
    entryPoints: [join(folder, 'load', 'servers', `${name}.ts`)],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // A module imported with import() loads on demand, as without a bundler.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@modelcontextprotocol/server', 'srvx', 'zod', ...clients],
    logLevel: 'error',
  });
  return join(outdir, `${name}.mjs`);
}

/** Starts the process of a bundled server. */
export function forkFile(file: string, { flags = [], environment }: RunOptions = {}): ChildProcess {
  return fork(file, {
    execArgv: ['--expose-gc', ...flags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Production setting, as on a real server.
    env: { ...process.env, NODE_ENV: 'production', ...environment },
  });
}

/** Starts a bundled server, and removes its folder when the server stops. */
export async function forkServer(file: string, options: RunOptions = {}): Promise<ServerProcess> {
  const child = forkFile(file, options);
  const ended = once(child, 'exit');
  const message = async (): Promise<unknown> => {
    const gone = ended.then(() => {
      throw new Error(`The server ${basename(file)} has ended`);
    });
    const [told] = (await Promise.race([once(child, 'message'), gone])) as [unknown];
    return told;
  };
  const ask = async (question: Question): Promise<Usage> => {
    child.send(question);
    return (await message()) as Usage;
  };
  const { url } = (await message()) as { readonly url: string };
  return {
    url: new URL('/mcp', url).href,
    memory: async () => await ask('memory'),
    usage: async () => await ask('cpu'),
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
      rmSync(dirname(file), { recursive: true, force: true });
    },
  };
}
