import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/command.ts';

const run = promisify(execFile);

/**
 * Installs one package of a pinned version from npm into a folder of its own, which later runs find there.
 * Here and not among the dependencies, since runtimes are large and only these tests need them.
 *
 * @returns the folder
 */
export async function install(name: string, version: string): Promise<string> {
  const cache = join(root, 'node_modules/.cache/runtimes');
  const folder = join(cache, `${name}@${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'installing-'));
  // Their scripts would only link or download what their packages for each platform hold anyway.
  const flags = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', '--prefix', fresh, ...flags, `${name}@${version}`], {
    shell: process.platform === 'win32',
  });
  try {
    await rename(fresh, folder);
  } catch (error) {
    // Another run was faster.
    await rm(fresh, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
