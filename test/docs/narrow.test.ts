import { expect, it } from 'vitest';
import { narrow } from './narrow.ts';

const long = 'a sentence that is much longer than what one line of a page can show to its reader';

it('a page breaks long code and comments', async () => {
  const text = `/** ${long} */\nexport function name(one: string, two: string): readonly [string, string] {\n  // ${long}\n  return [one, two]; // ${long}\n}\n`;
  const shown = await narrow('a.ts', text);
  expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(72);
  expect(shown.replaceAll(/[\s/*,]/g, '')).toBe(
    `${long}exportfunctionname(one:string,two:string):readonly[string,string]{${long}${long}return[one,two];}`.replaceAll(
      /[\s/*,]/g,
      '',
    ),
  );
});

it('a page keeps short comments, addresses in strings, and the marks of its regions', async () => {
  const text = `// #region part\nconst one = 1; // short\nf(\n  'https://saga.example/${'x'.repeat(60)}',\n);\n// A comment.\n\n// Another.\n// #endregion part\n`;
  expect(await narrow('a.ts', text)).toBe(text);
});

it('a page shows files of other languages as they are', async () => {
  const text = `{ "long": "${long}" }\n`;
  expect(await narrow('a.json', text)).toBe(text);
});
