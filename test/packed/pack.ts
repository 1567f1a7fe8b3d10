import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../support/command.ts';
import { run } from './run.ts';

/** Where what the tests make is kept. */
export const cache: string = fileURLToPath(new URL('node_modules/.cache', import.meta.url));

/** A package as it would be published. */
export interface Tarball {
  readonly path: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Folder of the tarballs. */
export const packedFolder: string = join(cache, 'tarballs');

/** Environment variable with the folder of the tarballs, for a process that need not pack again. */
export const tarballFolder = 'PACKED_TARBALLS';

/** Packs every package, one after the other, since each builds those it needs. */
export async function pack(): Promise<readonly Tarball[]> {
  const packed = process.env[tarballFolder];
  if (packed !== undefined) return await readTarballs(packed);
  const folder = packedFolder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run(process.execPath, [join(root, 'scripts/pack.mjs'), folder], root);
  return await readTarballs(folder);
}

async function readTarballs(folder: string): Promise<readonly Tarball[]> {
  const names = (await readdir(folder)).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return { path, data: new Uint8Array(await readFile(path)) };
    }),
  );
}
