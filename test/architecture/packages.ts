import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const repository: string = fileURLToPath(new URL('../..', import.meta.url));

/** The folders of the packages, by their names. */
export const packages: readonly string[] = readdirSync(join(repository, 'packages')).filter((name) =>
  existsSync(join(repository, 'packages', name, 'src')),
);
