import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineForPeople, textForPeople } from '../src/values/text-for-people.ts';

const invisible = [
  '\u0000',
  '\u0007',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u00ad',
  '\u034f',
  '\u061c',
  '\u115f',
  '\u180e',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u200e',
  '\u200f',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202d',
  '\u202e',
  '\u2060',
  '\u2066',
  '\u2069',
  '\u2800',
  '\u3164',
  '\ufeff',
  '\ufe0f',
  '\ufff9',
  '\u{e0041}',
  '\u{1d173}',
  '\u{e0100}',
  '\ud800',
  '\udc00',
];
const visible = [
  'a',
  'Z',
  '€',
  'é',
  'א',
  'ب',
  '金',
  '👍',
  '👍🏽',
  '👩‍💻',
  '❤️',
  '\\',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
];

const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom(...invisible, ...visible),
      fc.string({ unit: 'binary', maxLength: 3 }),
      fc.integer({ min: 1, max: 40 }).map((count) => '\n'.repeat(count)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Emoji whose parts are joined by characters that nobody sees. */
const emoji =
  /\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?(?:\u200D\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)*/gu;
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

describe('text for people', () => {
  it('has no character that nobody sees, outside of an emoji, and no long run of line breaks', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const shown = textForPeople(text);
        expect(shown.replaceAll(emoji, '').replaceAll(/[\n\t]/g, '')).not.toMatch(hidden);
        expect(shown).not.toMatch(/\n[\p{Zs}\t]*\n[\p{Zs}\t]*\n/u);
        expect(lineForPeople(text).replaceAll(emoji, '')).not.toMatch(hidden);
      }),
      { numRuns: 1_000 },
    );
  });

  it('shows its own output unchanged', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(textForPeople(textForPeople(text))).toBe(textForPeople(text));
        expect(lineForPeople(lineForPeople(text))).toBe(lineForPeople(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps all visible characters, in their order', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'Z', '€', 'é', 'א', 'ب', '金', '👍🏽', '👩‍💻', '\\', ' ', '\t', '<'),
    });
    fc.assert(
      fc.property(letters, (text) => {
        expect(textForPeople(text)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps escaped JSON the same JSON', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const json = JSON.stringify({ text });
        expect(JSON.parse(textForPeople(json))).toEqual({ text });
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['Pay \u202e01 €\u202c', 'Pay \\u202e01 €\\u202c'],
    ['Pay 1\u200b0 €', 'Pay 1\\u200b0 €'],
    ['shop\u200d', 'shop\\u200d'],
    ['a\u{e0041}b', 'a\\udb40\\udc41b'],
    [`Pay 10 €${'\n'.repeat(40)}to Eve`, 'Pay 10 €\n\nto Eve'],
    ['a\n \n\t\n \u3000\nb', 'a\n\nb'],
    ['a\r\n\r\nb', 'a\n\nb'],
    ['\u001b[2J', '\\u001b[2J'],
  ])('shows %j as %j', (text, shown) => {
    expect(textForPeople(text)).toBe(shown);
  });
});
