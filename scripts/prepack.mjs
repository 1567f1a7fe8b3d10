/**
 * Builds a package for npm, in its folder: `dist` has a module for each entry of `exports` and
 * `bin`, chunks that they share, and the declarations of each source.
 *
 * A module costs half a millisecond to load, so few are published. The chunks are shared, so that
 * no class and no state exists twice, however a process imports the package.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { droppableValues } from './droppable-values.mjs';

const outdir = 'dist';
// No file of a deleted source is published.
rmSync(outdir, { recursive: true, force: true });

const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
const compiler = typescript.replace(/package\.json$/, 'bin/tsc');
execFileSync(process.execPath, [compiler, '-b', '--emitDeclarationOnly'], { stdio: 'inherit' });

const { bin, publishConfig, sideEffects } = JSON.parse(readFileSync('package.json', 'utf8'));
const withEffects = new Set((sideEffects || []).map((file) => resolve(file)));
const built = [bin, ...Object.values(publishConfig.exports).map((entry) => entry.default)];
await build({
  entryPoints: built
    .filter((file) => file !== undefined)
    .map((file) => file.replace(/^(?:\.\/)?dist\/(.*)\.js$/, './src/$1.ts')),
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  // The same modules run on Node, in workers, and in browsers.
  platform: 'neutral',
  target: 'es2023',
  packages: 'external',
  // Sources are in the package.
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [droppableValues((path) => withEffects.has(path))],
});
