import { describe, expect, it } from 'vitest';
import { documentedNames, examplesIn, undocumented } from './docstrings.ts';
import { checkExamples, toModule } from './examples.ts';
import { anchorsIn, deadLinks } from './links.ts';
import {
  codesIn,
  codesWithoutAnchor,
  effectExamples,
  effects,
  effectsWithoutExample,
  errorCodes,
} from './reference.ts';

describe('the gate of links', () => {
  it('reports a file and an anchor that do not exist', () => {
    const text =
      '# Top\n\n[a](README.md) [b](nothing.md) [c](#top) [d](#bottom) [e](AGENTS.md#commands) [f](AGENTS.md#none) `[g](x)`';
    expect(deadLinks('README.md', text)).toEqual(['nothing.md', '#bottom', 'AGENTS.md#none']);
  });

  it('follows links to pages and public files of the site', () => {
    expect(deadLinks('docs/index.md', '[a](/start/) ![b](/icon.svg) ![c](/none.svg)')).toEqual([
      '/none.svg',
    ]);
  });

  it('finds the anchors of headings, repeated headings, and explicit IDs', () => {
    const anchors = anchorsIn(
      '# One `two`\n## Same\n## Same\n### `guard_down` {#guard_down}\n<a id="own"></a>',
    );
    expect([...anchors]).toEqual(['one-two', 'same', 'same-1', 'guard_down', 'own']);
  });
});

describe('the gate of docstrings', () => {
  it('reads the docstring and the kind of each public name', () => {
    const names = documentedNames('redis');
    expect(names.find(({ name }) => name === 'redisStore')).toMatchObject({ isFunction: true });
    expect(names.every(({ docstring }) => !docstring.startsWith('*'))).toBe(true);
  });

  it('reports an export without a docstring, and a function without an example', () => {
    const one = (name: string, isFunction: boolean, docstring: string) => ({
      package: 'server',
      name,
      isFunction,
      docstring,
    });
    const example = 'Seals.\n\n@example\n```ts\nseal();\n```';
    expect(
      undocumented([
        one('Token', false, 'A token.'),
        one('Bare', false, ''),
        one('open', true, 'Opens.'),
        one('seal', true, example),
      ]),
    ).toEqual(['no docstring: Bare', 'no @example: open']);
  });

  it('adds imports of the package and zod, but of no name that an example declares', () => {
    const code =
      "const step = 1;\nconst form = z.object({});\nelicit('sure', { schema: form, saga: step });";
    const entries = new Map(['step', 'elicit', 'saga'].map((name) => [name, '@mcp-saga/server']));
    expect(toModule(code, entries)).toMatch(
      /^import \{ z \} from 'zod'; import \{ elicit \} from '@mcp-saga\/server';/,
    );
  });

  it('accepts an example that compiles, and reports one that does not', async () => {
    const docstring = (code: string): string => `Does it.\n\n@example\n\`\`\`ts\n${code}\n\`\`\``;
    const one = (name: string, code: string) => ({
      package: 'server',
      name,
      isFunction: true,
      docstring: docstring(code),
    });
    expect(examplesIn(docstring('a();'))).toEqual(['a();\n']);
    const problems = await checkExamples([
      one(
        'good',
        "export const buy = saga({ name: 'buy', version: '1' }, function* () {\n  return 'bought';\n});",
      ),
      one('bad', 'await host.start(5);'),
    ]);
    expect([...problems.keys()]).toEqual(['server']);
    expect(
      problems.get('server')?.filter((line) => !line.startsWith('@example: server.bad.1.ts')),
    ).toEqual([]);
  });
});

describe('the gate of the reference', () => {
  it('finds the codes of errors and the effects', () => {
    expect(errorCodes('server')).toContain('guard_down');
    expect(effects).toEqual(expect.arrayContaining(['elicit', 'step', 'sleep', 'patched']));
  });

  it('finds codes in unions, classes, and defaults', () => {
    const text =
      "export type KeyErrorCode = 'keys' | 'no_key';\nreadonly code: 'busy' | 'gone';\ncode ?? 'failed'";
    expect(codesIn(text)).toEqual(['keys', 'no_key', 'busy', 'gone', 'failed']);
  });

  it('reports a code without an anchor, and an effect without an example', () => {
    expect(codesWithoutAnchor('redis', '# Errors')).toEqual(errorCodes('redis'));
    expect(codesWithoutAnchor('server', '### `guard_down`')).not.toContain('guard_down');
    expect(codesWithoutAnchor('server', '### `guard_up`')).toContain('guard_down');
    expect(effectsWithoutExample()).toEqual([]);
    expect(effectsWithoutExample(effectExamples().replaceAll(/\bsleep\(/g, 'nap('))).toEqual([
      'sleep',
    ]);
  });
});
