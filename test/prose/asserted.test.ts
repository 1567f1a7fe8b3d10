import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages, repository } from '../architecture/packages.ts';
import { repeated, sentencesIn, titlesIn } from './asserted.ts';

const filesIn = (folder: string): readonly (readonly [file: string, code: string])[] =>
  packages.flatMap((name) =>
    readdirSync(join(repository, 'packages', name, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `packages/${name}/${folder}/${file}`)
      .map((file) => [file, readFileSync(join(repository, file), 'utf8')] as const),
  );
const tests = filesIn('test');
// A message in the source may go over several lines.
const source = filesIn('src')
  .map(([, code]) => code.replaceAll(/['"`] \+\n\s*['"`]/g, ''))
  .join('\n');

describe('the tests of all packages', () => {
  it('assert each sentence of the library at most once, and error codes elsewhere', () => {
    const sentences = tests.flatMap(([file, code]) => sentencesIn(file, code));
    expect(sentences.length).toBeGreaterThan(200);
    expect(repeated(sentences.filter(({ text }) => source.includes(text)))).toEqual([]);
  });

  it('have unique titles', () => {
    expect(repeated(tests.flatMap(([file, code]) => titlesIn(file, code)))).toEqual([]);
  });
});

it('repeated sentences and titles are found', () => {
  const code = `it('says it', () => {
    expect(run).toThrow('The saga was lost.');
    expect(error).toMatchObject({ message: "The saga was lost." });
    expect(said).toMatch(/The saga was lost\\./);
  });`;
  expect(repeated(sentencesIn('a.ts', code))).toEqual(['The saga was lost.: a.ts:2, a.ts:3, a.ts:4']);
  expect(repeated([...titlesIn('a.ts', code), ...titlesIn('b.ts', code)])).toEqual([
    'says it: a.ts:1, b.ts:1',
  ]);
});
