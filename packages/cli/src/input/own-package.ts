import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * The address of a file of this package, by its path there. A path relative to this module would
 * be another one in the published package, where few modules hold all sources.
 */
export function ownFile(path: string): URL {
  const manifest = createRequire(import.meta.url).resolve('mcp-saga/package.json');
  return new URL(path, pathToFileURL(manifest));
}

/** Reads the version of this package. */
export function ownVersion(): string {
  const { version } = createRequire(import.meta.url)('mcp-saga/package.json') as {
    readonly version: string;
  };
  return version;
}
