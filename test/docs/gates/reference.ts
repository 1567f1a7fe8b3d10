import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as core from '../../../packages/core/src/index.ts';
import { commands } from '../../../packages/eslint-plugin/src/saga/vocabulary.ts';
import { repository } from '../../architecture/packages.ts';
import { fences, pages, read } from '../markdown.ts';
import { anchorsIn } from './links.ts';

/**
 * The codes of errors in the source of a package: of unions (`type …Code = 'a'`), classes
 * (`code: 'a'`), and defaults (`code ?? 'a'`).
 */
export function errorCodes(name: string): readonly string[] {
  const folder = join(repository, 'packages', name, 'src');
  const codes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => codesIn(readFileSync(join(folder, file), 'utf8')));
  return [...new Set(codes)].toSorted();
}

/** The codes of errors in a source text. */
export function codesIn(text: string): readonly string[] {
  const found = [
    ...text.matchAll(/^export type \w+Code =([^;]*);/gm),
    ...text.matchAll(/\bcode(?::| =| \?\?) ('\w+'(?: \| '\w+')*)/g),
  ];
  return found.flatMap(([, codes = '']) =>
    [...codes.matchAll(/'([a-z]+(?:_[a-z]+)*)'/g)].map(([, code = '']) => code),
  );
}

/** The codes of a package without an anchor in the reference of errors. */
export function codesWithoutAnchor(
  name: string,
  page = read('docs/reference/errors.md'),
): readonly string[] {
  const anchors = anchorsIn(page);
  return errorCodes(name).filter((code) => !anchors.has(code));
}

/** The effects that authors yield. */
export const effects: readonly string[] = Object.entries(core)
  .filter(([name, value]) => typeof value === 'function' && new Set<string>(commands).has(name))
  .map(([name]) => name)
  .toSorted();

/** The code on the pages of effects. */
export const effectExamples = (): string =>
  pages
    .filter((page) => page.startsWith('docs/reference/effects'))
    .flatMap((page) => fences(page).map((fence) => fence.code))
    .join('\n');

/** The effects that the code of examples never calls. */
export function effectsWithoutExample(code: string = effectExamples()): readonly string[] {
  return effects.filter((name) => !new RegExp(`\\b${name}(?:\\.\\w+)?(?:<[^>]*>)?\\(`).test(code));
}
