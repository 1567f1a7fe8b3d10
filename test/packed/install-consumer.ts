import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cache, type Tarball } from './pack.ts';
import { run } from './run.ts';

/** Environment variable with the folder of a consumer, for a process that need not install it. */
export const consumerFolder = 'PACKED_CONSUMER';

/** Options of `npm install`. What it downloads is kept in the cache. */
export const npmFlags: readonly string[] = [
  '--prefer-offline',
  '--cache',
  join(cache, 'npm'),
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];

/** What the consumer has besides. */
const peers = {
  '@modelcontextprotocol/client': '2.4.0',
  '@modelcontextprotocol/sdk': '1.32.2',
  '@modelcontextprotocol/server': '2.4.0',
  '@opentelemetry/api': '1.9.1',
  '@types/node': '20.19.43',
  eslint: '10.15.0',
  'fast-check': '4.10.2',
  oxlint: '1.94.0',
  srvx: '1.0.8',
  tsx: '4.23.15',
  xstate: '5.33.3',
  zod: '4.6.7',
};

/**
 * A project that has installed the tarballs, with the sources of `consumer`, of `first` and of
 * `lint`. It is outside of the workspace, whose packages it would find otherwise. What it downloads
 * is kept in the cache.
 *
 * @returns its folder
 */
export async function installConsumer(tarballs: readonly Tarball[]): Promise<string> {
  const installed = process.env[consumerFolder];
  if (installed !== undefined) return installed;
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-consumer-'));
  await cp(fileURLToPath(new URL('consumer', import.meta.url)), join(folder, 'src'), {
    recursive: true,
  });
  await cp(fileURLToPath(new URL('first', import.meta.url)), join(folder, 'first'), {
    recursive: true,
  });
  await cp(fileURLToPath(new URL('lint', import.meta.url)), join(folder, 'lint'), {
    recursive: true,
  });
  const manifest = { private: true, type: 'module', dependencies: peers };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const paths = tarballs.map(({ path }) => path);
  await run('npm', ['install', ...npmFlags, ...paths], folder);
  return folder;
}
