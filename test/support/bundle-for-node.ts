import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { root } from './command.ts';

/**
 * Bundles a program into one file for Node, which starts five times faster than the program with tsx.
 *
 * @param entry - the program's TypeScript; must not read files relative to `import.meta.url`
 * @param alias - modules to bundle instead of packages, by package name
 * @returns the path of the file, including its source map; run it with `--enable-source-maps` for readable stacks
 */
export async function bundleForNode(
  entry: URL,
  alias: { readonly [name: string]: string } = {},
): Promise<string> {
  const path = fileURLToPath(entry);
  const { outputFiles } = await build({
    entryPoints: [path],
    alias: { ...alias },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    sourceRoot: root,
    // Bundled CommonJS modules call `require('node:…')`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const folder = join(root, 'node_modules/.cache/bundles');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${relative(root, path).replaceAll(/[/\\]/g, '-')}.mjs`);
  // Concurrent runs never read a partial file.
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, outputFiles[0]!.contents);
  await rename(fresh, file);
  return file;
}
