import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The processes of the chaos, each in one file: they are started often, and start fast. */
export interface Programs {
  /** A folder of this run's own; the ledger is kept there, too. */
  readonly folder: string;
  readonly server: string;
  readonly provider: string;
  remove(): Promise<void>;
}

/** Bundles the processes. */
export async function bundlePrograms(): Promise<Programs> {
  // Below this folder, where SQLite is found, which stays outside of the bundle.
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
    external: ['node-sqlite3-wasm'],
    sourcemap: 'inline',
    // What is CommonJS among what is bundled asks for Node's own modules.
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
