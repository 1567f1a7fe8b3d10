/**
 * Bundles for processes that tests start: Node runs a bundle five to ten times faster than tsx runs
 * the sources. `bundleForNode` makes one file of each program, `bundlePackages` one of each entry of
 * each package, for programs that load code of a user, which imports the packages itself. Then
 * `node ...runBundles PROGRAM.ts` runs bundles in place of the sources that have one.
 */
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { root } from './command.ts';

/** Node options of a process that runs bundles. */
export const runBundles: readonly string[] = [
  '--import',
  new URL('run-bundles.js', import.meta.url).href,
];

/**
 * Bundles programs, each with all that it imports.
 *
 * @param programs - files of the workspace; `node ...runBundles` takes the same files
 */
export async function bundleForNode(...programs: readonly string[]): Promise<void> {
  await Promise.all(
    programs.map((program) =>
      bundle([program], {
        // esbuild runs an executable in its own folder.
        external: ['esbuild'],
        plugins: [ownUrls],
      }),
    ),
  );
}

/**
 * Bundles the entries of all packages, and the command line. The entries share their modules, so
 * that a process has one copy of each, and import dependencies from where they are installed.
 */
export async function bundlePackages(): Promise<void> {
  const folders = await readdir(join(root, 'packages'));
  const entries = await Promise.all(
    folders.map(async (folder) => {
      const text = await readFile(join(root, 'packages', folder, 'package.json'), 'utf8');
      const { exports = {} } = JSON.parse(text) as { readonly exports?: Record<string, unknown> };
      return Object.values(exports)
        .filter((path) => typeof path === 'string')
        .filter((path) => path.endsWith('.ts'))
        .map((path) => join('packages', folder, path));
    }),
  );
  await bundle(['packages/cli/src/bin.ts', ...entries.flat()], {
    splitting: true,
    // As Node does: without the condition `module`.
    conditions: [],
    jsx: 'automatic',
    plugins: [installed, ownUrls],
  });
}

/** Bundles the packages for modules of users that this process loads. */
export async function bundlePackagesForImport(): Promise<void> {
  await bundlePackages();
  await import(runBundles[1]!);
}

async function bundle(entryPoints: string[], options: BuildOptions): Promise<void> {
  const outdir = join(root, 'node_modules/.cache/bundles');
  const { outputFiles = [] } = await build({
    absWorkingDir: root,
    entryPoints,
    outbase: root,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Bundled CommonJS modules call `require('node:…')`.
    banner: {
      js: "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);",
    },
    ...options,
  });
  for (const { path, contents } of outputFiles) {
    await mkdir(dirname(path), { recursive: true });
    // A unique name per process, so that concurrent runs never read a partial file.
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, contents);
    await rename(fresh, path);
  }
}

/** Keeps the URL of each module that reads files next to itself. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup: (builder) => {
    builder.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return {
        contents: text.replaceAll('import.meta.url', () =>
          JSON.stringify(pathToFileURL(path).href),
        ),
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      };
    });
  },
};

/** Imports the dependencies of packages by the URL at which they are installed. */
const installed: Plugin = {
  name: 'installed',
  setup: (builder) => {
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData: isOwn, ...given }) => {
      if (isOwn === true || given.kind === 'entry-point') return undefined;
      const found = await builder.resolve(path, { ...given, pluginData: true });
      if (found.external || found.errors.length > 0) return { path, external: true };
      if (!found.path.includes('/node_modules/')) return found;
      return { path: pathToFileURL(found.path).href, external: true };
    });
  },
};
