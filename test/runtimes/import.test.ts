import { describe, expect, it } from 'vitest';
import { type Bundle, bundleWorker } from './bundle.ts';
import { type Serving, startServing } from './serving.ts';
import { workerd, workerdArgs, workerdPort } from './workerd.ts';

// Includes the time to download workerd.

/** Serves a worker with workerd, which rejects timers, randomness, and requests at import. */
async function serve(bundle: Bundle): Promise<Serving> {
  const executable = await workerd.executable();
  return await startServing({
    executable,
    args: workerdArgs('bare'),
    cwd: bundle.folder,
    keys: '',
    port: workerdPort,
  });
}

async function withBundle<T>(entry: string, use: (bundle: Bundle) => Promise<T>): Promise<T> {
  const bundle = await bundleWorker(entry);
  try {
    return await use(bundle);
  } finally {
    await bundle.remove();
  }
}

describe('at import', () => {
  it('[P1] no package has effects', async () => {
    const exported = await withBundle('import-all.ts', async (bundle) => {
      const serving = await serve(bundle);
      try {
        return await (await fetch(serving.url)).json();
      } finally {
        await serving.stop();
      }
    });
    expect(exported).toMatchObject({
      cloudflare: expect.arrayContaining(['durableObjectStore']),
      client: expect.arrayContaining(['callSaga']),
      core: expect.arrayContaining(['saga']),
      opentelemetry: expect.arrayContaining(['openTelemetry']),
      queues: expect.arrayContaining(['qstashQueue']),
      redis: expect.arrayContaining(['redisStore']),
      seal: expect.arrayContaining(['createSealer']),
      server: expect.arrayContaining(['createSagaHost']),
      serve: expect.arrayContaining(['serveSagas']),
      sql: expect.arrayContaining(['postgresStore', 'sqliteStore']),
    });
  });

  it('a module that draws a random byte is detected by the test above', async () => {
    await withBundle('import-impure.ts', async (bundle) => {
      await expect(serve(bundle)).rejects.toThrow(/global scope/);
    });
  });
});
