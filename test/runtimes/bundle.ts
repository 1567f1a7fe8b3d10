import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { root } from '../support/command.ts';

/** A folder that is there while the tests run. */
export interface Bundle {
  readonly folder: string;
  remove(): Promise<void>;
}

/** A server in one file for a Node that does not read TypeScript: `listen.mjs` of `listen.ts`. */
export async function bundleForNode(entry: string): Promise<Bundle> {
  const bundle = await folderFor('node-');
  await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outdir: bundle.folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
  return bundle;
}

/** A worker in one file, `worker.js`, with the configuration of workerd beside it: `worker.capnp`. */
export async function bundleWorker(entry: string): Promise<Bundle> {
  const bundle = await folderFor('workerd-');
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile: join(bundle.folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker', 'browser'],
    metafile: true,
  });
  const external = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  if (external.length > 0) throw new Error(`The bundle for workerd imports ${external.join(', ')}`);
  await copyFile(new URL('worker.capnp', import.meta.url), join(bundle.folder, 'worker.capnp'));
  return bundle;
}

async function folderFor(name: string): Promise<Bundle> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, name));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
