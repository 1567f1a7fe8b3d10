import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';

/** What a process loads from `node_modules`. It takes no time into account, which varies. */
export interface LoadedModules {
  readonly modules: number;
  readonly bytes: number;
  /** Names of the packages, sorted. */
  readonly packages: readonly string[];
}

const own = ['@mcp-saga/core', '@mcp-saga/seal', '@mcp-saga/server'];

/**
 * The most that a start may load: imports of a package, or a command. The packages are exact, so
 * that a host on Node loads no jose, and the help of the command line loads no SDK.
 */
export const mostLoaded: Readonly<Record<string, LoadedModules>> = {
  '@mcp-saga/core': { modules: 3, bytes: 121_000, packages: ['@mcp-saga/core'] },
  '@mcp-saga/seal': { modules: 1, bytes: 48_500, packages: ['@mcp-saga/seal'] },
  '@mcp-saga/server': { modules: 8, bytes: 770_000, packages: own },
  '@mcp-saga/server/serve': { modules: 9, bytes: 790_000, packages: own },
  '@mcp-saga/client': {
    modules: 3,
    bytes: 45_000,
    packages: ['@mcp-saga/client', '@mcp-saga/core'],
  },
  '@mcp-saga/testing': { modules: 21, bytes: 1_015_000, packages: [...own, '@mcp-saga/testing'] },
  '@mcp-saga/xstate': {
    modules: 15,
    bytes: 640_000,
    packages: ['@mcp-saga/core', '@mcp-saga/xstate', 'xstate'],
  },
  'mcp-saga --help': { modules: 9, bytes: 33_500, packages: ['@mcp-saga/core', 'mcp-saga'] },
};

/**
 * Starts Node as a key of {@link mostLoaded} says, in a project that installed the packages.
 *
 * @returns what it loaded
 */
export async function loadedModules(folder: string, start: string): Promise<LoadedModules> {
  const [command, ...words] = start.split(' ');
  const args =
    command === 'mcp-saga'
      ? [join('node_modules/mcp-saga/dist/bin.js'), ...words]
      : ['--input-type=module', '--eval', `import '${start}'`];
  const covered = await mkdtemp(join(tmpdir(), 'mcp-saga-loaded-'));
  try {
    // The coverage of V8 names every script that ran.
    await run(process.execPath, args, folder, { NODE_V8_COVERAGE: covered });
    const files = new Set<string>();
    for (const name of await readdir(covered)) {
      const { result } = JSON.parse(await readFile(join(covered, name), 'utf8')) as {
        readonly result: readonly { readonly url: string }[];
      };
      for (const { url } of result) if (url.includes('/node_modules/')) files.add(url);
    }
    const stats = await Promise.all([...files].map((url) => stat(fileURLToPath(url))));
    const names = [...files].map(
      (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '',
    );
    return {
      modules: files.size,
      bytes: stats.reduce((sum, { size }) => sum + size, 0),
      packages: [...new Set(names)].toSorted(),
    };
  } finally {
    await rm(covered, { recursive: true });
  }
}
