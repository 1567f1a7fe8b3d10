import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { install } from '../support/install.ts';

/** One runtime of one version. */
export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** The executable, installed if need be. */
  readonly executable: () => Promise<string>;
  /** How it is asked for its version. */
  readonly versionFlag: string;
  /** What is in its answer. */
  readonly versionSaid: string;
}

const exe = process.platform === 'win32' ? '.exe' : '';

/** Node. Its executables are packages of their own, one a platform. */
export function node(version: string): Runtime {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const executable = async (): Promise<string> =>
    join(await install('runtimes', `${name}@${version}`), 'node_modules', name, 'bin', `node${exe}`);
  return { name: 'Node', version, executable, ...saysVersion(version) };
}

/** Bun. */
export function bun(version: string): Runtime {
  const executable = (): Promise<string> => ofPlatform('bun', version, '@oven', join('bin', `bun${exe}`));
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
  // It says only the date that its version is made of.
  const date = version.replace(/^1\.(\d{4})(\d\d)(\d\d)\.\d+$/, '$1-$2-$3');
  return { name: 'workerd', version, executable, ...saysVersion(date) };
}

function saysVersion(versionSaid: string): Pick<Runtime, 'versionFlag' | 'versionSaid'> {
  return { versionFlag: '--version', versionSaid };
}

/** The executable in the package for this platform, which npm chose among the optional ones in `scope`. */
async function ofPlatform(name: string, version: string, scope: string, path: string): Promise<string> {
  const folder = join(await install('runtimes', `${name}@${version}`), 'node_modules', scope);
  const [platform] = await readdir(folder);
  if (platform === undefined) throw new Error(`${name} ${version} has no package for this platform`);
  return join(folder, platform, path);
}
