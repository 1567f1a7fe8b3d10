/** Writes the public names and signatures of each package to `etc`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, repository } from './packages.ts';
import { publicApi } from './public-api.ts';

mkdirSync(join(repository, 'etc'), { recursive: true });
for (const name of packages)
  writeFileSync(
    join(repository, 'etc', `${name}.api.md`),
    publicApi(join(repository, 'packages', name)),
  );
