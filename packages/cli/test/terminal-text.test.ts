import { describe, expect, it } from 'vitest';
import { usage } from '../src/usage.ts';
import { errorInTerminal, shownInTerminal } from '../src/terminal-text.ts';
import { run } from './command-line.ts';

const plain = (columns: number) => ({ columns, hasColors: false });
const colored = { columns: 100, hasColors: true };

describe('text in a terminal', () => {
  it('is wrapped at words, below its last column', () => {
    const line = '  -u, --url URL  address of a server over HTTP';
    expect(shownInTerminal(line, plain(34)).split('\n')).toEqual([
      '  -u, --url URL  address of a',
      '                 server over HTTP',
    ]);
    const report = `ok    store: answers\n      ${'word '.repeat(6).trim()}`;
    expect(shownInTerminal(report, plain(24))).toBe(
      'ok    store: answers\n      word word word\n      word word word',
    );
  });

  it('of the help fits into its width', () => {
    for (const line of shownInTerminal(usage(), plain(60)).split('\n'))
      expect(line.length, line).toBeLessThanOrEqual(60);
  });

  it.each([
    ['a word that is longer than a line', 'x'.repeat(90)],
    ['code', `          ${'call(me); '.repeat(20)}`],
    ['an example, which is a command', `Example: mcp-saga call refund ${'--arg a=1 '.repeat(20)}`],
  ])('keeps %s in one line', (_, line) => {
    expect(shownInTerminal(line, plain(40))).toBe(line);
  });

  it('has colors at the marks of a report, the options of the help, and errors', () => {
    expect(shownInTerminal('ok    a\nFAIL  b\nnone  c', colored)).toBe(
      '\u001B[32mok\u001B[39m    a\n\u001B[31mFAIL\u001B[39m  b\n\u001B[33mnone\u001B[39m  c',
    );
    expect(shownInTerminal('      --json  prints', colored)).toBe(
      '\u001B[36m      --json\u001B[39m  prints',
    );
    expect(errorInTerminal('No.', 'ok    help', colored)).toBe(
      '\u001B[31mNo.\u001B[39m\n\n\u001B[32mok\u001B[39m    help',
    );
  });

  it('has no colors in a terminal without them', () => {
    expect(shownInTerminal('ok    a', plain(80))).toBe('ok    a');
    expect(errorInTerminal('No.', '', plain(80))).toBe('No.');
  });
});

describe('a command in a terminal', () => {
  const looks = {
    output: { columns: 40, hasColors: true },
    errors: { columns: 40, hasColors: true },
  };

  it('wraps and colors its help and its errors', async () => {
    const { printed } = await run(['--help'], { looks });
    expect(printed).toContain('\u001B[36m  new\u001B[39m  ');
    const { errors } = await run(['kall'], { looks });
    expect(errors).toContain("\u001B[31mUnknown command 'kall'.");
  });

  it('prints JSON and keys as they are', async () => {
    const { printed } = await run(['keys', 'new', '--json'], { looks });
    expect(Object.keys(JSON.parse(printed))).toEqual(['id', 'key']);
    expect((await run(['keys', 'new'], { looks })).printed).toMatch(/^k\d+:[\w-]{43}$/);
  });
});
