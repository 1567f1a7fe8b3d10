import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillPage, plotsOf } from './page.ts';
import { readResults } from './results.ts';

const docs = join(import.meta.dirname, '../../../docs');

/** The page with the figures. */
export const pageFile: string = join(docs, 'operate/performance.md');
/** Folder of the plots on that page. */
export const plotsFolder: string = join(docs, 'public/performance');

/** Writes the generated parts of `docs/operate/performance.md`, and its plots. */
export function writePage(): void {
  const recorded = readResults();
  writeFileSync(pageFile, fillPage(readFileSync(pageFile, 'utf8'), recorded));
  mkdirSync(plotsFolder, { recursive: true });
  for (const [name, svg] of Object.entries(plotsOf(recorded)))
    writeFileSync(join(plotsFolder, name), svg);
}
