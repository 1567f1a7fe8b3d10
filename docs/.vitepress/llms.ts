import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentedApi } from '../../test/architecture/public-api.ts';
import packageNames from './package-names.json' with { type: 'json' };
import { leaveDocs } from './repository-links.ts';
import { readPages, sections, type Page } from './pages.ts';

/**
 * Writes the site for language models, beside the built pages: each page as Markdown, `llms.txt`
 * with a line for each page, and `llms-full.txt` with all pages. There, declarations with
 * docstrings replace the pages of the API.
 */
export async function writeForModels(
  outDir: string,
  title: string,
  summary: string,
): Promise<void> {
  const pages = readPages('.');
  await Promise.all(
    pages.map(async (page) => {
      const file = join(outDir, page.path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, asMarkdown(page));
    }),
  );
  const lists = sections.map(([folder, heading]) => {
    const lines = readPages(folder).map(
      ({ path, title: name, description }) =>
        `- [${name}](/${path})${description === '' ? '' : `: ${description}`}`,
    );
    return lines.length === 0 ? '' : `## ${heading}\n\n${lines.join('\n')}\n`;
  });
  const head = `# ${title}\n\n> ${summary}\n\n[llms-full.txt](/llms-full.txt) has the text of all pages, and the declarations of the API. [llms.txt](/llms.txt) links to each page. [index.md](/index.md) is the first page.\n`;
  const [, example = ''] =
    /^(## A complete file\n[\s\S]*?)^## /m.exec(
      pages.map((page) => (page.path === 'guides/testing.md' ? asMarkdown(page) : '')).join(''),
    ) ?? [];
  if (example === '') throw new Error("guides/testing.md has no section 'A complete file'.");
  await writeFile(
    join(outDir, 'llms.txt'),
    [head, example, ...lists.filter((list) => list !== '')].join('\n'),
  );
  const full = sections
    .filter(([folder]) => folder !== 'api')
    .flatMap(([folder]) => readPages(folder))
    .map((page) => `<!-- ${page.path} -->\n\n${asMarkdown(page)}`);
  await writeFile(join(outDir, 'llms-full.txt'), [head, ...full, apiForModels()].join('\n'));
}

/**
 * The declarations of each entry point. The fence has four backticks: examples of docstrings have
 * three.
 */
function apiForModels(): string {
  const entryPoints = packageNames.flatMap((name) =>
    documentedApi(fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))),
  );
  const fence = '`'.repeat(4);
  const parts = entryPoints.map(
    ({ entry, declarations }) => `## ${entry}\n\n${fence}ts\n${declarations}\n${fence}\n`,
  );
  return `<!-- api -->\n\n# API\n\nThe public declarations of each entry point, with their docstrings.\n\n${parts.join('\n')}`;
}

/**
 * The text of a page without the comments that name its regions, and without links that lead
 * nowhere on the site.
 */
export function asMarkdown({ path, text }: Page): string {
  return `${text
    .replaceAll(/<!--[\s\S]*?-->\n*/g, '')
    .replaceAll(/(?<!!)\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label: string, href: string) => {
      const left = leaveDocs(path, href);
      if (left === undefined) return link;
      return left.address === undefined ? label : `[${label}](${left.address})`;
    })
    .trim()}\n`;
}
