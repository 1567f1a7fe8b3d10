import { readFileSync } from 'node:fs';

/** Fields of a package.json that templates change. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/**
 * Reads the package.json of create-mcp-saga. The templates are tested with the versions of its
 * development dependencies.
 */
export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;
}
