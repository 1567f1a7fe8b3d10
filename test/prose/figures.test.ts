import { describe, expect, it } from 'vitest';
import { commentsOf, excess, figuresOf, linesOf, stringsOf } from './figures.ts';

const filler = 'The guard rejects a reused token and reports the reason to the operator of the host. '.repeat(
  20,
);

describe('the limits of the prose', () => {
  it('hold for plain sentences', () => {
    expect(excess(figuresOf([{ place: 'page', text: filler }]))).toEqual([]);
  });

  it.each([
    ['pronouns', `${'it that which '.repeat(10)}${filler}`],
    ['banned', `${filler} Nobody hears of it.`],
    ['tags', `${filler} (T14)`],
  ])('are broken by too many %s', (figure, text) => {
    expect(excess(figuresOf([{ place: 'page', text }]))).toContain(figure);
  });

  it('are broken by docstrings that open with a wh-word', () => {
    const passages = commentsOf('file.ts', '/** What the guard does. */\n/** Seals a token. */');
    expect(excess(figuresOf(passages))).toContain('openings');
  });

  it('count comments, lines of pages, and sentences in strings, and no code', () => {
    expect(commentsOf('file.ts', 'const a = 1;\n// Reports `it` once.\n')).toEqual([
      { place: 'file.ts:2', text: 'Reports X once.', isDocstring: false },
    ]);
    expect(linesOf('page.md', '---\ntitle: it\n---\n\nText.\n\n```ts\nit();\n```\n')).toEqual([
      { place: 'page.md:5', text: 'Text.' },
    ]);
    expect(
      stringsOf('file.ts', "throw new Error(`The step '${id}' timed out after ${ms} ms.`, 'id');"),
    ).toEqual([{ place: 'file.ts:1', text: "The step 'X' timed out after X ms." }]);
  });
});
