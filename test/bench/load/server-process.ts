import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { benchFolder } from '../bench-folder.ts';
import type { Question, Usage } from './usage.ts';

/** The servers there are: files of the folder `servers`. */
export type ServerName =
  | 'saga'
  | 'saga-1000'
  | 'by-hand'
  | 'by-hand-memoized'
  | 'trivial'
  | 'node-http'
  | 'sessions';

/** A server under load, in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  /** What it takes, once it has dropped what nothing holds any more. */
  memory(): Promise<Usage>;
  /** What it takes as it is. */
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

/**
 * Starts a server, bundled and run by node alone, as the rows of the bench are.
 *
 * @param flags - what else node is told
 */
export async function startServer(name: ServerName, flags: readonly string[] = []): Promise<ServerProcess> {
  return await forkServer(await bundleServer(name), flags);
}

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
    // As without a bundler: a module that is loaded by import() is loaded when it is needed.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@modelcontextprotocol/server', 'srvx', 'zod'],
    logLevel: 'error',
  });
  return join(outdir, `${name}.mjs`);
}

/** Starts a bundled server, and removes its folder at the end. */
export async function forkServer(file: string, flags: readonly string[] = []): Promise<ServerProcess> {
  const child = fork(file, {
    execArgv: ['--expose-gc', ...flags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // What a server is run with that has users.
    env: { ...process.env, NODE_ENV: 'production' },
  });
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
