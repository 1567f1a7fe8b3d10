import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillPage, plotsOf } from './page.ts';
import { readResults } from './results.ts';

const docs = join(import.meta.dirname, '../../../docs');

/** Pages with figures: of operators, and the log of all measurements. */
export const pageFiles: readonly string[] = [
  join(docs, 'operate/performance.md'),
  join(import.meta.dirname, '../MEASUREMENTS.md'),
];
/** Folder of the plots on these pages. */
export const plotsFolder: string = join(docs, 'public/performance');

/** Writes the generated parts of the pages with figures, and their plots. */
export function writePages(): void {
  const recorded = readResults();
  for (const file of pageFiles) writeFileSync(file, fillPage(readFileSync(file, 'utf8'), recorded));
  mkdirSync(plotsFolder, { recursive: true });
  for (const [name, svg] of Object.entries(plotsOf(recorded)))
    writeFileSync(join(plotsFolder, name), svg);
}
