/** `pnpm generate regions` writes the code of each region into the pages that show it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../architecture/packages.ts';
import { pages, read, withRegions } from './markdown.ts';

for (const page of pages) {
  const text = read(page);
  const written = withRegions(text);
  if (written === text) continue;
  writeFileSync(join(repository, page), written);
  console.log(`wrote ${page}`);
}
