import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packages, repository } from '../architecture/packages.ts';
import { cutRegion, unindent } from './cut-region.ts';
import { narrow } from './narrow.ts';

/** Reads a file of the repository. */
export function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

const root = new URL('../../', import.meta.url);

/**
 * Pages whose code comes from tested files: the README, the site without its generated API pages,
 * the README of each package, and the skill for coding agents.
 */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(fileURLToPath(new URL('docs', root)), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.md') && !/\/(?:node_modules|\.vitepress|api)\//.test(path))
    .toSorted(),
  ...packages
    .map((name) => `packages/${name}/README.md`)
    .filter((path) => existsSync(`${repository}/${path}`)),
  'packages/server/skills/write-a-saga/SKILL.md',
];

/** A fenced block of code in a page. */
export interface Fence {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /**
   * `region` (code of a tested file) or `command` (a script of the package); undefined without a
   * comment above the fence.
   */
  readonly kind: string | undefined;
  /**
   * Path and name of the region (`test/readme/deploy.ts#saga`), the path of a whole file, or the
   * name of a script.
   */
  readonly source: string | undefined;
  readonly code: string;
}

const pattern =
  /(?:<!-- (?<kind>\w+): (?<source>\S+) -->\s*\n)?(?<open>^(?<indent> *)```(?<language>\w+)[^\n]*\n)(?<code>[\s\S]*?)^ *```$/gm;

/** The fenced blocks of a page, with the comments that say where their code comes from. */
export function fences(page: string): readonly Fence[] {
  const text = read(page);
  return [...text.matchAll(pattern)].map(({ groups = {}, index }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language: groups['language'] ?? '',
    kind: groups['kind'],
    source: groups['source'],
    code: unindent(groups['code'] ?? ''),
  }));
}

/** Numbers of lines with a fence that names no language, is not closed, or lacks backticks. */
export function strayFences(text: string): readonly number[] {
  const strays: number[] = [];
  let opened: number | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, ticks = '', info = ''] = /^ *(`+)([^`]*)$/.exec(line) ?? [];
    if (opened !== undefined) {
      if (ticks.length >= 3 && info === '') opened = undefined;
    } else if (ticks.length >= 3) {
      opened = index + 1;
      if (info === '') strays.push(opened);
    } else if (ticks !== '') {
      strays.push(index + 1);
    }
  }
  return opened === undefined ? strays : [...strays, opened];
}

/** Files that pages quote, as the pages show them. */
const quoted = new Map(
  await Promise.all(
    [...new Set(pages.flatMap(fences).map(fileOf))]
      .filter((path) => path !== undefined)
      .map(async (path) => [path, await narrow(path, read(path))] as const),
  ),
);

function fileOf({ kind, source }: Fence): string | undefined {
  return kind === 'region' ? source?.split('#')[0] : undefined;
}

/** Replaces the code of each region in a page by the code of its file. */
export function withRegions(text: string): string {
  return text.replaceAll(pattern, (...match) => {
    const groups = match.at(-1) as Record<string, string>;
    if (groups['kind'] !== 'region') return match[0];
    const { source = '', open = '', indent = '' } = groups;
    const code = region(source).replaceAll(/^(?=.)/gm, indent);
    return `<!-- region: ${source} -->\n\n${open}${code}\n${indent}\`\`\``;
  });
}

/** The code of a region, as the pages show it. */
export function region(reference: string): string {
  const [path = ''] = reference.split('#');
  return cutRegion(quoted.get(path) ?? read(path), reference);
}
