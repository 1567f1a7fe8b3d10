import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { CreateError } from './errors.ts';
import type { Manifest } from './package-json.ts';

/** Packages of mcp-saga by name, which a project installs instead of those on npm. */
export type Tarballs = ReadonlyMap<string, Tarball>;

interface Tarball {
  readonly path: string;
  readonly manifest: Manifest;
}

/** The folder of a project that keeps its tarballs, so that the project needs no clone later. */
const kept = 'mcp-saga-packages';

/**
 * Packs the packages of a clone of mcp-saga, or finds them in a folder of tarballs, and passes them
 * on. The tarballs of a clone are deleted afterwards.
 *
 * @throws CreateError with the code `no_packages`
 */
export async function withTarballs<T>(
  folder: string,
  use: (tarballs: Tarballs) => Promise<T>,
): Promise<T> {
  const script = resolve(folder, 'scripts/pack.mjs');
  if (!existsSync(script)) return await use(await readTarballs(folder));
  const packed = await mkdtemp(join(tmpdir(), 'mcp-saga-packages-'));
  try {
    await promisify(execFile)(process.execPath, [script, packed]).catch((error: unknown) => {
      const { stderr = '' } = error as { readonly stderr?: string };
      throw new CreateError(
        'no_packages',
        `The packages of ${folder} cannot be packed. Run \`npx -y pnpm@12.21.0 install\` there first.\n${stderr}`.trimEnd(),
      );
    });
    return await use(await readTarballs(packed));
  } finally {
    await rm(packed, { recursive: true });
  }
}

async function readTarballs(folder: string): Promise<Tarballs> {
  const names = existsSync(folder) ? await readdir(folder) : [];
  const paths = names.filter((name) => name.endsWith('.tgz')).map((name) => join(folder, name));
  const tarballs = await Promise.all(
    paths.map(async (path): Promise<readonly [string, Tarball]> => {
      const manifest = manifestIn(gunzipSync(await readFile(path)));
      return [manifest.name ?? '', { path, manifest }];
    }),
  );
  if (tarballs.some(([name]) => name === 'create-mcp-saga')) return new Map(tarballs);
  throw new CreateError(
    'no_packages',
    `${folder} is neither a clone of mcp-saga nor a folder with the tarballs of its packages. Name one of them with --packages.`,
  );
}

/** Reads the `package.json` in a tar archive, which is a list of blocks of 512 bytes. */
function manifestIn(archive: Buffer): Manifest {
  const text = (start: number, end: number): string =>
    archive.toString('utf8', start, end).replace(/[\0 ].*$/s, '');
  for (let header = 0; header < archive.length;) {
    const size = Number.parseInt(text(header + 124, header + 136) || '0', 8);
    const content = header + 512;
    if (text(header, header + 100) === 'package/package.json')
      return JSON.parse(archive.toString('utf8', content, content + size)) as Manifest;
    header = content + Math.ceil(size / 512) * 512;
  }
  return {};
}

/** Returns the names, and those of all packages of mcp-saga that they depend on. */
export function withDependencies(names: readonly string[], tarballs: Tarballs): readonly string[] {
  const found = new Set(names);
  // A set iterates over members that are added meanwhile.
  for (const name of found)
    for (const dependency of Object.keys(tarballs.get(name)?.manifest.dependencies ?? {}))
      if (tarballs.has(dependency)) found.add(dependency);
  return [...found];
}

/** Returns the version of a package in a `package.json`: a file of the project. */
export function versionOf({ path }: Tarball): string {
  return `file:${kept}/${basename(path)}`;
}

/**
 * Copies the tarballs that a `package.json` names into the project.
 *
 * @returns their paths, relative to the project
 */
export async function copyTarballs(
  dir: string,
  { dependencies, devDependencies }: Manifest,
  tarballs: Tarballs,
): Promise<readonly string[]> {
  const versions = Object.values({ ...dependencies, ...devDependencies });
  const used = [...tarballs.values()].filter((tarball) => versions.includes(versionOf(tarball)));
  if (used.length > 0) await mkdir(join(dir, kept), { recursive: true });
  const paths = used.map(({ path }) => `${kept}/${basename(path)}`);
  await Promise.all(used.map(({ path }, index) => copyFile(path, join(dir, paths[index] ?? ''))));
  return paths;
}
