import * as parser from '@typescript-eslint/parser';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('ESLint reports nothing in the examples and in the code of the README', async () => {
  const eslint = new ESLint({
    cwd: root,
    overrideConfigFile: true,
    baseConfig: [
      { files: ['**/*.ts'], languageOptions: { parser } },
      plugin.configs.recommended,
    ] as never,
    overrideConfig: { linterOptions: { reportUnusedDisableDirectives: 'off' } },
  });
  const results = await eslint.lintFiles(['examples/**/*.ts', 'test/readme/**/*.ts']);
  expect(results.length).toBeGreaterThan(50);
  expect(
    results.filter(({ messages }) => messages.length > 0).map(({ filePath }) => filePath),
  ).toEqual([]);
});
