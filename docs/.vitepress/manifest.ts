import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { docs } from './pages.ts';

/** The root of the repository. */
export const root: string = join(docs, '..');

interface Manifest {
  readonly version?: string;
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

const { homepage, repository } = readManifest('.');
const url = typeof repository === 'string' ? repository : repository?.url;

/** Address of the site, without a slash at its end; undefined until `package.json` has a `homepage`. */
export const siteAddress: string | undefined = homepage?.replace(/\/$/, '') || undefined;

/** Address of the public repository; undefined until `package.json` has a `repository`. */
export const repositoryAddress: string | undefined =
  url?.replace(/^git\+/, '').replace(/\.git$/, '') || undefined;

/** The version that the pages describe, which all packages share. */
export const version: string = readManifest('packages/server').version ?? '';
