import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findChromium } from '../support/find-chromium.ts';
import { install } from '../support/install.ts';

/** One runtime of one version. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** Returns the path of the executable, and installs it if necessary. */
  readonly executable: () => Promise<string>;
  /** Flag that prints the version. */
  readonly versionFlag: string;
  /** Expected part of that output. */
  readonly versionSaid: string;
}

const exe = process.platform === 'win32' ? '.exe' : '';

/** Node. Each platform has its own package with the executable. */
export function node(version: string): Runtime {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const executable = async (): Promise<string> =>
    join(
      await install('runtimes', `${name}@${version}`),
      'node_modules',
      name,
      'bin',
      `node${exe}`,
    );
  return { name: 'Node', version, executable, ...saysVersion(version) };
}

/** Bun. */
export function bun(version: string): Runtime {
  const executable = (): Promise<string> =>
    ofPlatform('bun', version, '@oven', join('bin', `bun${exe}`));
  return { name: 'Bun', version, executable, ...saysVersion(version) };
}

/** Deno. */
export function deno(version: string): Runtime {
  const executable = (): Promise<string> => ofPlatform('deno', version, '@deno', `deno${exe}`);
  return { name: 'Deno', version, executable, ...saysVersion(version) };
}

/** workerd, the runtime of Cloudflare Workers. */
export function workerd(version: string): Runtime {
  const executable = (): Promise<string> =>
    ofPlatform('workerd', version, '@cloudflare', join('bin', `workerd${exe}`));
  // workerd prints only the date in its version.
  const date = version.replace(/^1\.(\d{4})(\d\d)(\d\d)\.\d+$/, '$1-$2-$3');
  return { name: 'workerd', version, executable, ...saysVersion(date) };
}

/** Chromium on this machine, in any version. npm does not provide it. */
export const chromium: Runtime = {
  name: 'Chromium',
  version: 'on PATH',
  executable: async () => {
    const found = findChromium();
    if (found === undefined) throw new Error('there is no Chromium on PATH');
    return found;
  },
  versionFlag: '--version',
  versionSaid: 'Chrom',
};

function saysVersion(versionSaid: string): Pick<Runtime, 'versionFlag' | 'versionSaid'> {
  return { versionFlag: '--version', versionSaid };
}

/**
 * Finds the executable in the package for this platform. npm selects it from the optional
 * dependencies in `scope`.
 */
async function ofPlatform(
  name: string,
  version: string,
  scope: string,
  path: string,
): Promise<string> {
  const folder = join(await install('runtimes', `${name}@${version}`), 'node_modules', scope);
  const [platform] = await readdir(folder);
  if (platform === undefined)
    throw new Error(`${name} ${version} has no package for this platform`);
  return join(folder, platform, path);
}
