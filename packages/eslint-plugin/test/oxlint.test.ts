import * as parser from '@typescript-eslint/parser';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Linter } from 'eslint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import plugin from '../src/index.ts';
import { allCases } from './cases/index.ts';
import { nameOf, type Case } from './support/cases.ts';
import { oxlint } from './support/oxlint.ts';

// Settings are those of a whole run.
const cases = Object.values(allCases).flatMap(({ valid, invalid }): readonly Case[] =>
  [...valid, ...invalid].filter(({ settings }) => settings === undefined),
);
const fileOf = (index: number): string => `case-${index}.${cases[index]?.isTyped ? 'ts' : 'mjs'}`;

let folder: string;
let reported: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcp-saga-oxlint-'));
  await Promise.all(cases.map(({ code }, index) => writeFile(join(folder, fileOf(index)), code)));
  reported = await oxlint(folder, ['.']);
});
afterAll(() => rm(folder, { recursive: true }));

/** What ESLint says of a case, by all rules. */
function messagesOf({ code, isTyped }: Case): readonly string[] {
  const config = [
    plugin.configs.recommended,
    ...(isTyped ? [{ languageOptions: { parser } }] : []),
  ];
  return new Linter().verify(code, config as never).map(({ message }) => message);
}

describe('Oxlint', () => {
  it.each(cases.map((given, index) => [nameOf(given), given, index] as const))(
    'reports what ESLint reports: %s',
    (_, given, index) => {
      const messages = messagesOf(given);
      expect(reported.get(fileOf(index)) ?? []).toEqual(expect.arrayContaining([...messages]));
      expect(reported.get(fileOf(index)) ?? []).toHaveLength(messages.length);
    },
  );
});
