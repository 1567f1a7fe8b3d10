import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJavaScript, toJavaScript } from '../../docs/.vitepress/javascript.ts';
import { languageTabs } from '../../docs/.vitepress/language-tabs.ts';
import { bundlePackages, runBundles } from '../support/bundle-for-node.ts';
import { start } from '../support/command.ts';
import { fences, pages, region } from './markdown.ts';

const columns = 72;
const javascript = await readJavaScript();
const tabsOf = languageTabs(javascript);
const translated = [...javascript].filter(([source, code]) => code.trim() !== region(source));

/** Reads code as a module, the inside of a function, or a property. */
async function parse(code: string): Promise<void> {
  const parts = [code, `async function* body() {${code}}`, `({${code}})`];
  await Promise.any(parts.map((part) => transform(part, { loader: 'js', logLevel: 'silent' })));
}

describe('the JavaScript of a page', () => {
  it.each(translated)('is valid, and no wider than the TypeScript: %s', async (source, code) => {
    await parse(code);
    const width = (text: string): number =>
      Math.max(...text.split('\n').map(({ length }) => length));
    expect(width(code)).toBeLessThanOrEqual(Math.max(columns, width(region(source))));
  });

  it('is refused by the parser of these tests if it has types', async () => {
    await expect(parse('const a: string = "";')).rejects.toThrow('All promises were rejected');
  });

  it('has no types, and neither their comments nor their lines', () => {
    const typescript = `/** A hold. */
export interface Hold {
  /** Its name. */
  readonly id: string;
}
// Waits for it.
type Wait = (hold: Hold) => Promise<void>;
const wait: Wait = async (hold) => {};
`;
    expect(toJavaScript(typescript).replaceAll(/ +/g, ' ')).toBe(
      'const wait = async (hold) => {};\n',
    );
  });

  it('keeps other comments, blank lines, unused imports, and the marks of regions', () => {
    const same = `// Before the imports.
import { step } from '@mcp-saga/server';

// #region pay
/** Pays. */
const pay = () => 1; // once

// #endregion pay
`;
    expect(toJavaScript(same)).toBe(same);
    const marked = '// #region pay\ninterface Pay {}\nconst pay = 1;\n';
    expect(toJavaScript(marked)).toBe('// #region pay\nconst pay = 1;\n');
  });

  it('imports files by their names in JavaScript', () => {
    expect(toJavaScript("import { a } from './a.ts';\nexport * from '../b.ts';\n")).toBe(
      "import { a } from './a.js';\nexport * from '../b.js';\n",
    );
  });

  it('has a tab only if it differs from the TypeScript', () => {
    const source = 'test/readme/api.ts';
    const block = { language: 'ts', code: `${region(source)}\n`, region: source };
    expect(tabsOf(block)).toEqual([
      { title: 'TypeScript', language: 'ts', code: block.code },
      { title: 'JavaScript', language: 'js', code: javascript.get(source) },
    ]);
    const same = 'test/packed/first/note.ts#tool';
    expect(javascript.get(same)).toBe(`${region(same)}\n`);
    expect(tabsOf({ ...block, code: `${region(same)}\n`, region: same })).toBeUndefined();
    expect(tabsOf({ ...block, language: 'sh' })).toBeUndefined();
    expect(tabsOf({ ...block, region: undefined })).toBeUndefined();
  });
});

describe('the first tool in JavaScript', () => {
  const page = 'docs/start/first-tool.md';
  let folder: string;
  beforeAll(async () => {
    await bundlePackages();
    // Beside this file, where the packages are installed.
    folder = await mkdtemp(fileURLToPath(new URL('.javascript-', import.meta.url)));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('runs in Node as its page shows it, and prints what the page says', async () => {
    expect(pages).toContain(page);
    const blocks = fences(page).filter(({ language }) => language === 'ts');
    for (const { source = '' } of blocks) {
      const [path = ''] = source.split('#');
      const name = `${basename(path, '.ts')}.js`;
      await writeFile(join(folder, name), javascript.get(source) ?? '');
    }
    // If TEST is set, srvx does not print its address.
    const env = { PORT: '0', NODE_ENV: 'development', TEST: undefined };
    const server = start(process.execPath, [...runBundles, 'server.js'], env, folder);
    try {
      const [, url = ''] = await server.printed(/Listening on: (\S+)/);
      const client = start(process.execPath, ['client.js', `${url}mcp`], {}, folder);
      const { output } = await client.ended;
      const printed = fences(page).find(({ language }) => language === 'text');
      expect(output.trim()).toBe(printed?.code);
    } finally {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    }
  });
});
