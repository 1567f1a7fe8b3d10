// Copies the pages that errors name into the package, under the same path, so that they are at hand
// in `node_modules` in the version of the code.
import { cpSync, rmSync } from 'node:fs';

const folder = 'docs/reference';
rmSync('docs', { recursive: true, force: true });
for (const page of ['errors.md', 'troubleshooting.md'])
  cpSync(new URL(`../${folder}/${page}`, import.meta.url), `${folder}/${page}`);
