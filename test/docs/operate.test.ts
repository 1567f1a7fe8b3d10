import { expect, it } from 'vitest';
import { defaultHostLimits } from '../../packages/server/src/settings/default-limits.ts';
import { read } from './markdown.ts';

it('the page on limits lists each limit of a host with its default', () => {
  const rows = read('docs/operate/limits.md').matchAll(/^\| `(\w+)` +\| +([\d,]+) \|/gm);
  const listed = [...rows].map(([, name, value = '']) => [name, Number(value.replaceAll(',', ''))]);
  expect(Object.fromEntries(listed)).toEqual(defaultHostLimits);
});
