import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startCommand } from '@mcp-saga/example-run-server';
import { install } from '../../../test/support/install.ts';

// Newest version for Node 20.
const installed = await install('runtimes', 'wrangler@4.86.0');

/**
 * Starts the Worker with `wrangler dev`, which bundles the Worker as for a deploy, and runs the
 * bundle in workerd.
 *
 * @param secrets - values for `wrangler secret put`. Locally, a file holds the values, which
 * override `vars`
 * @param folder - folder of the Durable Objects
 */
export async function startWorker(
  name: string,
  secrets: { readonly [name: string]: string },
  folder: string,
): Promise<ServerProcess> {
  const file = join(folder, '.env');
  await writeFile(
    file,
    Object.entries(secrets)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  );
  const options = [
    '--ip=127.0.0.1',
    '--port=0',
    '--inspector-port=0',
    '--env-file',
    file,
    '--persist-to',
    folder,
  ];
  return await startCommand(name, {
    command: process.execPath,
    args: [join(installed, 'node_modules/wrangler/bin/wrangler.js'), 'dev', '--local', ...options],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    environment: { CI: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    served: /(?<=Ready on )http:\S+/,
    end: 'SIGTERM',
  });
}
