import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { step } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { packages } from '../architecture/packages.ts';
import { anchorsIn } from './gates/links.ts';
import { errorCodes } from './gates/reference.ts';
import { read } from './markdown.ts';

const run = promisify(execFile);
const server = new URL('../../packages/server/', import.meta.url);

/** The source of each package, without what is generated. */
const sources = readdirSync(new URL('../../packages', import.meta.url)).flatMap((name) =>
  readdirSync(new URL(`../../packages/${name}/src`, import.meta.url), {
    recursive: true,
    encoding: 'utf8',
  })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(`packages/${name}/src/${file}`)),
);
const source = sources.join('\n');
const page = read('docs/reference/errors.md');
/** The text of a heading is its anchor as well. */
const headings = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code);

const literals = (text: string): readonly string[] =>
  [...text.matchAll(/'([a-z]+(?:_[a-z]+)*)'/g)].map(([, literal = '']) => literal);

const codes = new Set(packages.flatMap(errorCodes));

/** Returns the words in the first column of the table that follows a text. */
function tableAfter(text: string): readonly string[] {
  const [, rest = ''] = page.split(text);
  const [, table = ''] = /\n((?:\|[^\n]*\n)+)/.exec(rest) ?? [];
  return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, word = '']) => word);
}

const sorted = (words: Iterable<string | undefined>): readonly (string | undefined)[] =>
  [...words].toSorted((one = '', other = '') => one.localeCompare(other));

describe('the reference of errors', () => {
  it('has one heading with one anchor for each code of each package', () => {
    expect(codes.size).toBeGreaterThan(50);
    expect(sorted(headings)).toEqual(sorted(codes));
  });

  it('has each reason of a refused token', () => {
    const [, union = ''] = /^export type RefusalReason =([^;]*);/m.exec(source) ?? [];
    expect(sorted(tableAfter('### `refused`'))).toEqual(sorted(literals(union)));
  });

  it('has each frozen reason of the wire', () => {
    const reasons = [...source.matchAll(/\breason: '(invalid_\w+)'/g)].map(([, reason]) => reason);
    expect(sorted(tableAfter('names only the dialect:'))).toEqual(sorted(new Set(reasons)));
  });

  it('is linked from errors by the address in the FAQ and on the troubleshooting page', () => {
    let message = '';
    try {
      step('not an ID', () => 1);
    } catch (error) {
      ({ message } = error as Error);
    }
    const [, address = '', code = ''] = /\nSee (\S+)#(\S+)$/.exec(message) ?? [];
    expect(read(address)).toBe(page);
    expect(anchorsIn(page)).toContain(code);
    expect(read('docs/reference/faq.md')).toContain(`\`See ${address}#${code}\``);
    expect(read('docs/reference/troubleshooting.md')).toContain(`\`See ${address}#`);
  });

  it('is in the package of the server, at the address that errors name', async () => {
    const { files, scripts } = JSON.parse(read('packages/server/package.json')) as {
      readonly files: readonly string[];
      readonly scripts: { readonly prepack: string };
    };
    expect(files).toContain('docs');
    const [script = ''] = /[\w./-]+copy-error-pages\.mjs/.exec(scripts.prepack) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-pages-'));
    await run('node', [fileURLToPath(new URL(script, server))], { cwd: folder });
    for (const file of ['docs/reference/errors.md', 'docs/reference/troubleshooting.md'])
      expect(await readFile(join(folder, file), 'utf8')).toBe(read(file));
  });

  it('has each anchor that a mistake in a saga or a warning links to', () => {
    const [, union = ''] = /^export type AuthoringAnchor =([^;]*);/m.exec(source) ?? [];
    const named = [...union.matchAll(/'([\w-]+)'/g)].map(([, anchor = '']) => anchor);
    const linked = [...source.matchAll(/\berrorLink\('([\w-]+)'\)/g)].map(([, code = '']) => code);
    expect(named.length).toBeGreaterThan(5);
    expect([...named, ...linked].filter((anchor) => !anchorsIn(page).has(anchor))).toEqual([]);
    const symptoms = [...source.matchAll(/\btroubleshootingLink\(\s*'([\w-]+)'/g)];
    const anchors = anchorsIn(read('docs/reference/troubleshooting.md'));
    expect(symptoms.length).toBeGreaterThan(1);
    expect(symptoms.filter(([, anchor = '']) => !anchors.has(anchor))).toEqual([]);
  });

  it('describes each code of a saga, a host, and a client as final or retryable', () => {
    const [serving = ''] = page.split('## Errors of tests');
    for (const section of serving.split(/^### /m).slice(1)) {
      const [, code] = /^`(\w+)`/.exec(section) ?? [];
      if (['keys', 'too_large', 'unsupported', 'hook_timeout'].includes(code ?? '')) continue;
      expect(section).toMatch(/\*\*(?:Final|Retryable|In the body)/);
    }
  });
});
