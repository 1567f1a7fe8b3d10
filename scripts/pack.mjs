/**
 * `node scripts/pack.mjs FOLDER`: packs every package that is published into a folder, as npm would
 * get it. `create-mcp-saga --packages` runs it in a clone, and the tests of the tarballs do.
 */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder of the tarballs.');
// The studio is not published: the site and the command line contain it. One package after the
// other, because each builds those that it needs.
const packages = ['--filter', './packages/*', '--filter', '!@mcp-saga/studio'];
const flags = ['-r', ...packages, '--workspace-concurrency=1'];
execFileSync(
  'npx',
  ['-y', 'pnpm@12.21.0', ...flags, 'pack', '--pack-destination', resolve(folder)],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  },
);
