import { build } from 'esbuild';

/** Bundles a Worker into one script for workerd. */
export async function bundleForWorkerd(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker', 'browser'],
  });
  return outputFiles[0]!.text;
}
