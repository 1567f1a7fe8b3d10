import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asMarkdown } from '../../docs/.vitepress/llms.ts';
import { readPages } from '../../docs/.vitepress/pages.ts';
import { fences, pages, read, region, strayFences, withRegions } from './markdown.ts';

/** Languages whose blocks must come from a file that is compiled, run, or read by a test. */
const code = new Set(['ts', 'tsx', 'js', 'toml', 'yaml']);
const blocks = pages.flatMap(fences);
const codeIn = (text: string): readonly string[] => text.match(/^ *```\w[\s\S]*?^ *```$/gm) ?? [];

describe('the text of the pages', () => {
  it('spell "cancelled" as the methods and codes do', () => {
    const one = /\bcancel(?:ed|ing)\b/i;
    expect(pages.filter((page) => one.test(read(page)))).toEqual([]);
    expect(read('docs/reference/errors.md')).toContain('### `saga_cancelled`');
  });
});

describe('the code in the pages', () => {
  it('comes from the file in the comment above each block', () => {
    const without = blocks.filter(({ language, kind }) => code.has(language) && kind === undefined);
    expect(without.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });

  it('stands below each comment that names a file', () => {
    const named = (text: string): number => text.match(/<!-- (?:region|file): /g)?.length ?? 0;
    const shown = (page: string): number =>
      fences(page).filter(({ kind }) => kind === 'region' || kind === 'file').length;
    expect(pages.filter((page) => named(read(page)) !== shown(page))).toEqual([]);
  });

  it('is in closed blocks with a language', () => {
    const strays = pages.flatMap((page) =>
      strayFences(read(page)).map((line) => `${page}:${line}`),
    );
    expect(strays).toEqual([]);
    const broken = '```ts\ncode\n```\n\n```\n\n``ts\ncode\n```\n\n`\n\n```ts\n';
    expect(strayFences(broken)).toEqual([5, 11, 13]);
  });

  it('imports only packages and files that the site shows', () => {
    const nameOf = (path: string): string => basename(path).replace(/\.\w+$/, '');
    const onSite = blocks.filter(({ page }) => page.startsWith('docs/'));
    const shown = new Set(onSite.map(({ source = '' }) => nameOf(source.replace(/#.*$/, ''))));
    const imported = onSite.flatMap(({ page, code: text }) =>
      [...text.matchAll(/from '(\.[^']+|@mcp-saga\/example[^']+)'/g)].map(([, from = '']) => ({
        page,
        from,
      })),
    );
    expect(imported.length).toBeGreaterThan(20);
    expect(imported.filter(({ from }) => !shown.has(nameOf(from)))).toEqual([]);
  });

  it('is the same in the pages for language models', () => {
    for (const page of readPages('.')) {
      const markdown = asMarkdown(page);
      expect(strayFences(markdown)).toEqual([]);
      expect(codeIn(markdown)).toEqual(codeIn(page.text));
    }
  });

  it.each(
    blocks
      .filter(({ kind }) => kind === 'region')
      .map(({ page, source = '', code: shown }) => [source, page, shown] as const),
  )('of %s is compiled and tested (%s; `pnpm generate regions` writes it)', (source, _, shown) => {
    expect(shown).toBe(region(source));
  });

  it.each(
    blocks
      .filter(({ kind }) => kind === 'command')
      .map(({ page, source = '', code: shown }) => [source, page, shown] as const),
  )('contains the command "%s" of the package, which CI runs (%s)', (script, _, shown) => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts[script]).toBeDefined();
    expect(shown).toBe(`npx -y pnpm@12.21.0 ${script}`);
    expect(read('.ci/run')).toMatch(new RegExp(`^pnpm ${script}\\b`, 'm'));
  });

  it('is written again from its file, with the indentation of its block', () => {
    const reference = 'test/readme/serve.ts#serve';
    const page = (shown: string): string =>
      `- item\n\n  <!-- region: ${reference} -->\n\n  \`\`\`ts\n${shown}\n  \`\`\`\n`;
    const written = withRegions(page('  old code'));
    expect(written).toContain("\n  import { deploy } from './deploy.ts';\n");
    expect(written).not.toContain('old code');
    expect(withRegions(written)).toBe(written);
  });

  it('is an error for a region that does not exist', () => {
    expect(() => region('test/readme/serve.ts#nothing')).toThrow(
      "test/readme/serve.ts has no region 'nothing'.",
    );
  });
});
