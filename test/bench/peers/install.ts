import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const versions = {
  '@restatedev/restate-sdk': '1.17.2',
  '@restatedev/restate-sdk-gen': '1.17.2',
  'durable-functions': '3.5.0',
  inngest: '4.24.0',
};

/**
 * Installs the compared libraries into their own folder, once for each set of versions. They are
 * not dependencies of the workspace, because they take 300 MB.
 *
 * @returns the folder; undefined where they cannot be had, offline for one
 */
export function installPeers(cache: string): string | undefined {
  const name = Object.values(versions).join('-');
  const folder = join(cache, `peers-${name}`);
  const done = join(folder, 'installed');
  if (existsSync(done)) return folder;
  console.log('Installing the libraries to compare with, once (about 300 MB, a minute) …');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, dependencies: versions }),
  );
  try {
    const quiet = ['--silent', '--no-audit', '--no-fund', '--no-package-lock'];
    execFileSync(
      'npm',
      ['install', '--ignore-scripts', '--omit=optional', '--legacy-peer-deps', ...quiet],
      {
        cwd: folder,
        stdio: 'inherit',
        shell: process.platform === 'win32',
      },
    );
  } catch {
    console.log('They could not be installed: their places stay empty.');
    return undefined;
  }
  writeFileSync(done, '');
  return folder;
}
