import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { root } from '../support/command.ts';

/** A folder that exists while the tests run. */
export interface Bundle {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Bundles `listen.ts` as `listen.mjs` for a Node version that does not run TypeScript. */
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

/** Bundles a worker as `worker.js`, with the workerd configuration `worker.capnp`. */
export async function bundleWorker(entry: string): Promise<Bundle> {
  const bundle = await folderFor('workerd-');
  const file = fileURLToPath(new URL(entry, import.meta.url));
  await bundleForWeb(file, join(bundle.folder, 'worker.js'), {
    conditions: ['workerd', 'worker', 'browser'],
  });
  await copyFile(new URL('worker.capnp', import.meta.url), join(bundle.folder, 'worker.capnp'));
  return bundle;
}

/** Bundles a script of a page as `page.js`. */
export async function bundlePage(entry: string): Promise<Bundle> {
  const bundle = await folderFor('page-');
  const file = fileURLToPath(new URL(entry, import.meta.url));
  await bundleForWeb(file, join(bundle.folder, 'page.js'), { platform: 'browser' });
  return bundle;
}

/**
 * Bundles a module with everything that it imports.
 *
 * @throws Error if esbuild warns, or if an import is left
 */
export async function bundleForWeb(
  file: string,
  outfile: string,
  options: BuildOptions,
): Promise<void> {
  const { metafile, warnings } = await build({
    ...options,
    entryPoints: [file],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    metafile: true,
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) =>
    output.imports.map(({ path }) => path),
  );
  const problems = [
    ...warnings.map(({ text }) => text),
    ...imports.map((path) => `imports ${path}`),
  ];
  if (problems.length > 0) throw new Error(`${file}: ${problems.join('; ')}`);
}

async function folderFor(name: string): Promise<Bundle> {
  const cache = join(root, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, name));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}
