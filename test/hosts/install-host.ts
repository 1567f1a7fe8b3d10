import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Installs packages of pinned versions from npm into a cache folder outside of the repository,
 * because hosts read configuration from parent folders.
 *
 * @returns the folder with `node_modules`
 * @throws Error with npm's message if they cannot be installed
 */
export async function installHost(packages: readonly string[]): Promise<string> {
  const cache = join(tmpdir(), 'mcp-saga-hosts');
  const folder = join(cache, packages.join('+').replaceAll(/[^\w.@+-]/g, '-'));
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(join(cache, 'installing-'));
  await writeFile(join(fresh, 'package.json'), '{ "private": true }');
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
      cwd: fresh,
      shell: process.platform === 'win32',
    });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true });
    throw error;
  }
  return folder;
}
