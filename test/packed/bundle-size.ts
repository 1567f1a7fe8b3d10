import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * Bundles a module for a worker, minified.
 *
 * @param code - the module; it imports from the folder
 * @returns its bytes, compressed with gzip
 */
export async function bundleSize(folder: string, code: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker', 'browser'],
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}
