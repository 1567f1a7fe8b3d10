import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Programs of the chaos test, each bundled into one file, so that the frequent restarts are fast.
 */
export interface Programs {
  /** Folder of this run, which also contains the ledger. */
  readonly folder: string;
  readonly server: string;
  readonly provider: string;
  remove(): Promise<void>;
}

/** Bundles the processes. */
export async function bundlePrograms(): Promise<Programs> {
  // SQLite is not bundled, so the folder must be below this one, where Node finds SQLite.
  const cache = fileURLToPath(new URL('node_modules/.cache', import.meta.url));
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'chaos-'));
  await build({
    entryPoints: ['server/server.ts', 'provider/provider.ts'].map((file) =>
      fileURLToPath(new URL(file, import.meta.url)),
    ),
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['node-sqlite3-wasm', 'pg-native'],
    // Bundled CommonJS modules require Node built-ins.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return {
    folder,
    server: join(folder, 'server.mjs'),
    provider: join(folder, 'provider.mjs'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
