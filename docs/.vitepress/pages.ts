import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the site's pages. */
export const docs: string = fileURLToPath(new URL('..', import.meta.url));

/** Folders of the site, each with its heading. */
const headings = {
  start: 'Start',
  tutorial: 'Tutorial: a refund that cannot be lost',
  guides: 'Guides',
  operate: 'Operate',
  reference: 'Reference',
  spec: 'Protocol',
  api: 'API',
} as const;

/** Folders in the order of the site, each with its heading. */
export const sections: readonly (readonly [folder: string, heading: string])[] =
  Object.entries(headings);

/** Folders that share a sidebar, by the paths that show it. */
const sidebars = {
  '/api/': ['api'],
  '/reference/': ['reference', 'spec'],
  '/spec/': ['reference', 'spec'],
  '/': ['start', 'tutorial', 'guides', 'operate'],
} as const;

/** A page in Markdown. */
export interface Page {
  /** Path below `docs`, with forward slashes: `start/index.md`. */
  readonly path: string;
  readonly title: string;
  /** One sentence for search engines and `llms.txt`; empty if the page has none. */
  readonly description: string;
  /** What readers type to find the page, beside the words of its title. */
  readonly aliases: readonly string[];
  /** Position in the sidebar of its folder; pages without `order` follow in alphabetical order. */
  readonly order: number;
  /** Markdown without the front matter. */
  readonly text: string;
}

/** A page or a folder of pages in the sidebar. */
export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: SidebarItem[];
  /** Closed until its reader opens it, or visits a page in it. Undefined: it cannot be closed. */
  readonly collapsed?: boolean;
}

/**
 * Reads the pages below a folder of `docs`, sorted as in the sidebar; `index.md` is the first of
 * its folder.
 */
export function readPages(folder: string): readonly Page[] {
  const root = join(docs, folder);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/](?:node_modules|\.vitepress)[\\/]/.test(file))
    .map((file) => readPage(file))
    .toSorted(comparePages);
}

function readPage(file: string): Page {
  const [, frontMatter = '', text = ''] =
    /^(?:---\n([\s\S]*?)\n---\n)?([\s\S]*)$/.exec(readFileSync(file, 'utf8')) ?? [];
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}: *(['"]?)(.*)\\1 *$`, 'm').exec(frontMatter)?.[2];
  return {
    path: relative(docs, file).split(sep).join('/'),
    title: field('title') ?? /^# (.+)$/m.exec(text)?.[1] ?? basename(file, '.md'),
    description: field('description') ?? '',
    aliases: (/^aliases: *\[(.*)\] *$/m.exec(frontMatter)?.[1] ?? '')
      .split(',')
      .map((alias) => alias.trim())
      .filter((alias) => alias !== ''),
    order: Number(field('order') ?? Number.POSITIVE_INFINITY),
    text,
  };
}

function comparePages(a: Page, b: Page): number {
  const isIndex = ({ path }: Page): number => (basename(path) === 'index.md' ? 0 : 1);
  return isIndex(a) - isIndex(b) || Math.sign(a.order - b.order || 0) || (a.path < b.path ? -1 : 1);
}

/**
 * Builds the sidebar of each part of the site: a group for each folder, and one for each folder
 * below it.
 */
export function sidebar(): Record<string, SidebarItem[]> {
  return Object.fromEntries(
    Object.entries(sidebars).map(([path, folders]) => [
      path,
      folders.flatMap((folder, index) => {
        const items = group(folder, readPages(folder));
        if (items.length === 0) return [];
        return [{ text: headings[folder], items, collapsed: index > 0 }];
      }),
    ]),
  );
}

function group(folder: string, pages: readonly Page[]): SidebarItem[] {
  const item = ({ path, title }: Page): SidebarItem => ({ text: title, link: linkTo(path) });
  const below = ({ path }: Page): string | undefined =>
    /^([^/]+)\//.exec(path.slice(folder.length + 1))?.[1];
  const folders = new Set(pages.map(below).filter((name) => name !== undefined));
  // A page `testing.md` beside a folder `testing` is the first item of that folder's group.
  const ownPage = (name: string): Page | undefined =>
    pages.find(({ path }) => path === `${folder}/${name}.md`);
  const groups = [...folders].map((name) => {
    const inner = pages.filter((page) => below(page) === name);
    const first = ownPage(name) ?? inner.find(({ path }) => path === `${folder}/${name}/index.md`);
    const rest = inner.filter((page) => page !== first);
    return {
      order: first?.order ?? Number.POSITIVE_INFINITY,
      item: {
        text: first?.title ?? name,
        ...(first === undefined ? {} : { link: linkTo(first.path) }),
        items: group(`${folder}/${name}`, rest),
      },
    };
  });
  const own = pages
    .filter(
      (page) => below(page) === undefined && ![...folders].some((name) => page === ownPage(name)),
    )
    .map((page) => ({
      order: page.path === `${folder}/index.md` ? -1 : page.order,
      item: item(page),
    }));
  return [...own, ...groups]
    .toSorted((a, b) => Math.sign(a.order - b.order || 0))
    .map(({ item: one }) => one);
}

/** The link of a page on the site: `start/index.md` is at `/start/`. */
export function linkTo(path: string): string {
  return `/${path.replace(/(?:(^|\/)index)?\.md$/, '$1')}`;
}

/** The address of a page on the site: `operate/fleet.md` is at `/operate/fleet.html`. */
export function addressOf(path: string): string {
  const link = linkTo(path);
  return link.endsWith('/') ? link : `${link}.html`;
}
