import { textForPeople } from '@mcp-saga/core/shared';

/**
 * Width of a character at size 1, for the sans-serif fonts of browsers. A little too wide is better
 * than too narrow.
 */
function widthOf(character: string): number {
  if (/[ijl.,:;'|!()[\]ftr ]/.test(character)) return 0.37;
  if (/[mwMW@%]/.test(character)) return 0.95;
  if (/[A-Z0-9_+=<>~#]/.test(character)) return 0.7;
  return character.codePointAt(0)! < 0x3_00 ? 0.58 : 1.05;
}

/** Estimates the width of a text in pixels. */
export function measureText(text: string, size: number): number {
  return Array.from(text, widthOf).reduce((sum, width) => sum + width * size, 0);
}

/**
 * Breaks a text into lines of a width. Breaks between words, or inside a word that is too long. Each
 * line is text for people: names in a machine come from data.
 */
export function breakLines(text: string, size: number, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const words = textForPeople(text)
    .split(/\s+/u)
    .filter((word) => word !== '');
  for (const part of words.flatMap((word) => breakWord(word, size, width))) {
    const longer = line === '' ? part : `${line} ${part}`;
    if (line !== '' && measureText(longer, size) > width) {
      lines.push(line);
      line = part;
    } else line = longer;
  }
  // A word that was broken may have lost the letter that a joiner belongs to.
  return [...lines, line].map(textForPeople);
}

/** Breaks a word after punctuation, or anywhere in a word without punctuation. */
function breakWord(word: string, size: number, width: number): readonly string[] {
  const parts = [''];
  for (const character of word) {
    const part = (parts.at(-1) ?? '') + character;
    parts[parts.length - 1] = part;
    if (measureText(part, size) <= width) continue;
    const [punctuated = ''] = /^.+[._:/-](?=.)/su.exec(part) ?? [];
    const canEnd = punctuated !== '' && measureText(part.slice(punctuated.length), size) <= width;
    const begin = canEnd ? punctuated : part.slice(0, -character.length);
    // A part has at least one character.
    if (begin !== '') parts.splice(-1, 1, begin, part.slice(begin.length));
  }
  return parts;
}
