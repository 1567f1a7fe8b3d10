import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startCommand } from '@mcp-saga/example-run-server';
import { install } from '../../../test/support/install.ts';

// The newest that runs on Node 20.
const installed = await install('runtimes', 'wrangler@4.86.0');

/**
 * Starts the Worker with `wrangler dev`, which bundles it as it is deployed and runs it in workerd.
 *
 * @param secrets - what `wrangler secret put` would set; locally they come from a file, and override `vars`
 */
export async function startWorker(
  name: string,
  secrets: { readonly [name: string]: string },
): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'worker-'));
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
  const worker = await startCommand(name, {
    command: process.execPath,
    args: [join(installed, 'node_modules/wrangler/bin/wrangler.js'), 'dev', '--local', ...options],
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    environment: { CI: '1', WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' },
    served: /(?<=Ready on )http:\S+/,
    end: 'SIGTERM',
  });
  const stop = async (): Promise<void> => {
    await worker.stop();
    await rm(folder, { recursive: true });
  };
  return { ...worker, stop };
}
