import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const docs = new URL('../../docs/', import.meta.url);
const studio = new URL('../../packages/studio/', import.meta.url);

/** Runs a script of a package below its folder. */
async function run(folder: URL, file: string, ...args: readonly string[]): Promise<void> {
  const script = fileURLToPath(new URL(`node_modules/${file}`, folder));
  // Vitest sets another environment, in which the pages would have the code for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [script, ...args], {
    cwd: folder,
    env,
    maxBuffer: 2 ** 25,
  });
}

/** Folder of the static files of the playground. */
export const studioApp: string = fileURLToPath(new URL('dist/app/', studio));

/** Builds the playground, before all tests: the site contains a copy. */
export async function setup(): Promise<void> {
  await run(studio, 'vite/bin/vite.js', 'build');
}

/** Builds the pages of `mcp-saga dev` into the package of the command line. */
export async function buildLiveStudio(): Promise<void> {
  for (const config of ['vite.live.config.ts', 'vite.engine.config.ts'])
    await run(studio, 'vite/bin/vite.js', 'build', '--config', config);
}

/**
 * Builds the site, and returns the folder that holds it. `SITE_DIST=docs/.vitepress/dist` visits a
 * site that is built already.
 */
export async function buildSite(): Promise<string> {
  if (process.env['SITE_DIST'] !== undefined) return process.env['SITE_DIST'];
  // The pages of the API come first.
  await run(docs, 'typedoc/bin/typedoc');
  await run(docs, 'vitepress/bin/vitepress.js', 'build');
  return fileURLToPath(new URL('.vitepress/dist/', docs));
}
