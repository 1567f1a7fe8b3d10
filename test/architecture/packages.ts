import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const repository: string = fileURLToPath(new URL('../..', import.meta.url));

/** The folders of all packages with source, by their names. */
export const sources: readonly string[] = readdirSync(join(repository, 'packages')).filter((name) =>
  existsSync(join(repository, 'packages', name, 'src')),
);

/** The folders of the published packages, by their names. */
export const packages: readonly string[] = sources.filter((name) => {
  const manifest = readFileSync(join(repository, 'packages', name, 'package.json'), 'utf8');
  return !('private' in (JSON.parse(manifest) as object));
});
