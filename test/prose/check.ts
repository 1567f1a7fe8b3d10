/** `pnpm check:prose` holds the limits of the prose. `--worst N` prints the N worst places of each part that is over a limit. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repository, sources } from '../architecture/packages.ts';
import { commentsOf, excess, figuresOf, linesOf, stringsOf, worst, type Passage } from './figures.ts';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { worst: { type: 'string', default: '5' } },
});

const read = (file: string): string => readFileSync(join(repository, file), 'utf8');

function filesIn(folder: string, extension: string): readonly string[] {
  return readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith(extension) && !/\/(?:node_modules|\.vitepress|api)\//.test(file));
}

const markdown = (files: readonly string[]): readonly Passage[] =>
  files.filter((file) => existsSync(join(repository, file))).flatMap((file) => linesOf(file, read(file)));
const source = (folder: string, passagesOf: typeof commentsOf): readonly Passage[] =>
  ['.ts', '.tsx']
    .flatMap((ending) => filesIn(folder, ending))
    .flatMap((file) => passagesOf(file, read(file)));

const parts: readonly (readonly [name: string, passages: readonly Passage[]])[] = [
  ...sources.map((name) => [`packages/${name}/src`, source(`packages/${name}/src`, commentsOf)] as const),
  ...sources.map(
    (name) => [`packages/${name}/src, strings`, source(`packages/${name}/src`, stringsOf)] as const,
  ),
  ['packages/*/README.md', markdown(sources.map((name) => `packages/${name}/README.md`))],
  [
    'README.md and other pages of the root',
    markdown([
      'README.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      ...filesIn('.changeset', '.md'),
    ]),
  ],
  ['examples', source('examples', commentsOf)],
  ['examples/**/README.md', markdown(filesIn('examples', 'README.md'))],
  ['docs', markdown(filesIn('docs', '.md'))],
];

for (const [name, passages] of parts) {
  if (positionals.length > 0 && !positionals.some((start) => name.startsWith(start))) continue;
  const figures = figuresOf(passages);
  const over = excess(figures);
  const { words, pronouns, openings, banned, tags } = figures;
  console.log(
    `${over.length === 0 ? 'ok  ' : 'OVER'} ${name}: ${words} words; pronouns ${pronouns.toFixed(1)} per 100 (5); wh-openings ${openings.toFixed(0)} % (5); banned ${banned.toFixed(0)} per 10,000 (5); tags ${tags} (0)`,
  );
  if (over.length === 0) continue;
  process.exitCode = 1;
  for (const { place, text } of worst(passages, Number(flags.worst)))
    console.log(`     ${place} ${text.replaceAll(/\s+/g, ' ').slice(0, 140)}`);
}
