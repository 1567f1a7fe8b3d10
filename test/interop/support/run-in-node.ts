import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { node } from '../../runtimes/runtime.ts';
import { root } from '../../support/command.ts';
import { install } from '../../support/install.ts';
import type { Report } from '../peers/peer.ts';
import type { RunPeer } from './play.ts';

const run = promisify(execFile);

/** Includes the time to download a client and its version of Node. */
export const installTimeout = 300_000;

/**
 * Installs Node for these clients if necessary. They need version 22 or later, which also runs
 * TypeScript.
 */
export const nodeOfPeers = (): Promise<string> => node('24.21.0').executable();

/** Environment variables that share a client's compiled code between Node processes. */
export const compileCache: { readonly [name: string]: string } = {
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
};

/** Installs a client, and runs its file from `peers` in a separate process. */
export async function installPeer(file: string, ...packages: readonly string[]): Promise<RunPeer> {
  const [executable, folder] = await Promise.all([nodeOfPeers(), install('interop', ...packages)]);
  const script = fileURLToPath(new URL(`../peers/${file}`, import.meta.url));
  return async (job) => {
    const { stdout } = await run(executable, [script, folder, JSON.stringify(job)], {
      env: { ...process.env, ...compileCache },
      timeout: 50_000,
    });
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as Report;
  };
}
