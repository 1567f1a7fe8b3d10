import * as parser from '@typescript-eslint/parser';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';
import plugin from '../src/index.ts';
import { oxlint } from './support/oxlint.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// Sagas that are wrong on purpose: `pnpm check lint`, which reports nothing else, leaves them out.
const wrong = [
  'packages/core/test/assigned-variables.test.ts',
  'packages/core/test/body.test.ts',
  'packages/core/test/mistakes.test.ts',
  'packages/core/test/never-yielded.test.ts',
  'packages/core/test/types/negative.ts',
  // A plain `yield`, which gives `unknown`.
  'packages/core/test/types/positive.ts',
  'packages/core/test/types/serving-negative.ts',
  'packages/server/test/host/default-log.test.ts',
  'packages/server/test/host/faults.test.ts',
  'packages/server/test/host/options.test.ts',
  'packages/testing/test/broken/sagas.ts',
  'test/packed/lint/wrong.js',
];

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

it('Oxlint reports each deliberate mistake of tests', async () => {
  const folder = await mkdtemp(resolve(tmpdir(), 'mcp-saga-oxlint-'));
  try {
    // Tests of `core` import it as its own files do.
    const modules = ['../src/index.ts', '../../src/index.ts'];
    const files = wrong.map((file) => resolve(root, file));
    const reported = await oxlint(folder, files, { 'mcp-saga': { modules } });
    const found = Array.from(reported.keys(), (file) => relative(root, resolve(folder, file)));
    expect(new Set(found)).toEqual(new Set(wrong));
  } finally {
    await rm(folder, { recursive: true });
  }
});
