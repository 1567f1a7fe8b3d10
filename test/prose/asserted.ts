/** A text in a test, with its place. */
export interface Asserted {
  readonly place: string;
  readonly text: string;
}

const quoted = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/.source;
const assertion = new RegExp(
  String.raw`(?:\b(?:toThrow|toContain|toMatch|stringContaining|stringMatching)\(\s*|\bmessage: )` +
    String.raw`(?:${quoted}|/((?:[^/\\\n]|\\.)+)/)`,
  'g',
);
const title = new RegExp(String.raw`\b(?:it|test)\(\s*(?:${quoted})`, 'g');

/** The sentences that a test file asserts: at least four words. */
export const sentencesIn = (file: string, code: string): readonly Asserted[] =>
  textsIn(file, code, assertion).filter(({ text }) => text.split(' ').length > 3);

/** The titles of the tests in a file. */
export const titlesIn = (file: string, code: string): readonly Asserted[] => textsIn(file, code, title);

function textsIn(file: string, code: string, pattern: RegExp): readonly Asserted[] {
  return Array.from(code.matchAll(pattern), ({ index, 1: single, 2: double, 3: expression }) => ({
    place: `${file}:${code.slice(0, index).split('\n').length}`,
    text: (single ?? double ?? expression ?? '').replaceAll(/\\(.)/g, '$1'),
  }));
}

/** Texts in several places, with the places. */
export function repeated(texts: readonly Asserted[]): readonly string[] {
  const places = new Map<string, Asserted[]>();
  for (const one of texts) places.set(one.text, [...(places.get(one.text) ?? []), one]);
  return [...places]
    .filter(([, all]) => all.length > 1)
    .map(([text, all]) => `${text}: ${all.map(({ place }) => place).join(', ')}`);
}
