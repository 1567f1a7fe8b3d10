import { createRequire } from 'node:module';

/** Reads the version of this package. */
export function ownVersion(): string {
  return (createRequire(import.meta.url)('../../package.json') as { readonly version: string })
    .version;
}
