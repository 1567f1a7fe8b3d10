import { toSource } from '@mcp-saga/testing/internal';
import { expect, it } from 'vitest';

const evaluate = (source: string): unknown =>
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- what a reader does with a printed value
  (new Function(`return (${source});`) as () => unknown)();

it.each([
  'a\u2028b\u2029c',
  "it's",
  '"both" and \'one\'',
  String.raw`\' \" \\`,
  'a\nb\r\tc',
  { 'a\u2028b': ['\u2029'], plain: "it's" },
])('prints %j as source code of the same value, without raw line breaks', (value) => {
  const source = toSource(value);
  expect(evaluate(source)).toEqual(value);
  expect(source.match(/^/gm)).toHaveLength(1);
});

it('prints a function with a raw line separator by its name', () => {
  const named = evaluate("function answers() { return '\u2028'; }");
  expect(toSource(named)).toBe('/* answers */');
});
