import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'sucrase';
import { cutRegion } from '../../test/docs/cut-region.ts';
import { narrow } from '../../test/docs/narrow.ts';
import { root } from './manifest.ts';
import { readPages } from './pages.ts';

/** Folders whose pages show code in both languages. */
const folders = ['start', 'tutorial', 'guides'];

/**
 * Translates the TypeScript of the pages into JavaScript.
 *
 * A region may be a part of a statement, which no compiler reads. So the whole file is translated
 * and formatted, and the region is cut from the result, as it is from the file in TypeScript.
 *
 * @returns the code by region: `test/readme/deploy.ts#saga`
 */
export async function readJavaScript(): Promise<ReadonlyMap<string, string>> {
  const regions = folders
    .flatMap((folder) => readPages(folder))
    .flatMap(({ text }) => [...text.matchAll(/<!-- region: ((\S+\.ts)(?:#\S+)?) -->/g)]);
  const translated = new Map(
    await Promise.all(
      [...new Set(regions.map(([, , path = '']) => path))].map(async (path) => {
        const code = toJavaScript(readFileSync(join(root, path), 'utf8'));
        return [path, await narrow(path.replace(/\.ts$/, '.js'), code)] as const;
      }),
    ),
  );
  return new Map(
    regions.map(([, region = '', path = '']) => [
      region,
      `${cutRegion(translated.get(path) ?? '', region)}\n`,
    ]),
  );
}

/**
 * Removes the types, and imports the files by their names in JavaScript. The code is valid, but not
 * formatted.
 */
export function toJavaScript(typescript: string): string {
  // With these options, the compiler changes nothing but types, and keeps each line in its place.
  const { code } = transform(typescript, {
    transforms: ['typescript'],
    disableESTransforms: true,
    keepUnusedImports: true,
  });
  return withoutGaps(typescript.split('\n'), code.split('\n')).replaceAll(
    /(['"])(\.\.?\/[^'"\n]*)\.ts\1/g,
    '$1$2.js$1',
  );
}

/**
 * Drops the lines that held only types, which the compiler leaves empty, and the comments above
 * them, which would describe the next declaration. Keeps the marks of regions, of which the
 * compiler removes some as comments.
 */
function withoutGaps(before: readonly string[], after: readonly string[]): string {
  const kept: string[] = [];
  let isGap = false;
  for (const [index, line] of after.entries()) {
    const source = before[index] ?? '';
    const isRemoved = line.trim() === '' && source.trim() !== '' && !isMark(source);
    if (isRemoved && !isGap) while (isComment(kept.at(-1))) kept.pop();
    if (!isRemoved) kept.push(isMark(source) ? source : line);
    isGap = isRemoved;
  }
  return kept.join('\n');
}

function isMark(line: string): boolean {
  return /^\s*\/\/ #(?:end)?region /.test(line);
}

function isComment(line = ''): boolean {
  return /^\s*(?:\/\/|\/\*\*|\*)/.test(line) && !isMark(line);
}
