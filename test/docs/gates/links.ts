import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { slugify } from '../../../docs/.vitepress/slug.ts';
import { repository } from '../../architecture/packages.ts';
import { read } from '../markdown.ts';

/**
 * Links of a page that lead to no file or to no anchor of the repository. Addresses on the web are
 * not visited.
 */
export function deadLinks(page: string, text: string): readonly string[] {
  const prose = text
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/i.test(link) && isDead(page, link, text));
}

function isDead(page: string, link: string, text: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : fileOf(page, path);
  if (target === undefined) return true;
  if (anchor === undefined || !target.endsWith('.md')) return false;
  return !anchorsIn(target === page ? text : read(target)).has(anchor);
}

/**
 * The file of a link. A link to a folder leads to its `index.md`; `/start/` and `/icon.svg` lead to
 * pages and files of the site.
 */
function fileOf(page: string, path: string): string | undefined {
  const file = path.startsWith('/') ? join('docs', path) : join(dirname(page), path);
  const published = path.startsWith('/') ? [join('docs/public', path)] : [];
  for (const candidate of [file, `${file}.md`, join(file, 'index.md'), ...published]) {
    const absolute = join(repository, candidate);
    if (existsSync(absolute) && (statSync(absolute).isFile() || candidate === file))
      return relative(repository, absolute).split(sep).join('/');
  }
  return undefined;
}

/** The anchors of a page: its headings, `{#id}` behind a heading, and `id` attributes. */
export function anchorsIn(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text
    .replaceAll(/```[\s\S]*?```/g, '')
    .matchAll(/^#{1,6} (.+)$/gm)) {
    const [, title = heading, id] = /^(.*?)\s*\{#([^}]+)\}\s*$/.exec(heading) ?? [];
    const slug =
      id ?? slugify(title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, ''));
    let unique = slug;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${slug}-${count}`;
    anchors.add(unique);
  }
  for (const [, id = ''] of text.matchAll(/<\w+[^>]* (?:id|name)="([^"]+)"/g)) anchors.add(id);
  return anchors;
}
