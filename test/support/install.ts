import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './command.ts';

const run = promisify(execFile);

/**
 * Installs packages of pinned versions (`name@version`) from npm into a folder of their own, which
 * later runs find there. Here and not among the dependencies, since they are large and only some
 * tests need them.
 *
 * @param cache - the name of the folder they are kept in
 * @returns the folder
 */
export async function install(cache: string, ...packages: readonly string[]): Promise<string> {
  const kept = join(root, 'node_modules/.cache', cache);
  const folder = join(kept, packages.join('+').replaceAll('/', '-'));
  if (existsSync(folder)) return folder;
  await mkdir(kept, { recursive: true });
  const fresh = await mkdtemp(join(kept, 'installing-'));
  // Install scripts would only link or download files that the platform packages already contain.
  const flags = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    await run('npm', ['install', '--prefix', fresh, ...flags, ...packages], {
      shell: process.platform === 'win32',
    });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true });
    // A concurrent run has already installed the folder.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
