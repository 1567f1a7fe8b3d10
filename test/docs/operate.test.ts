import { expect, it } from 'vitest';
import { duration } from '@mcp-saga/server';
import { defaultHostLimits } from '../../packages/server/src/settings/default-limits.ts';
import { read } from './markdown.ts';

it('the page on limits lists each limit of a host with its default', () => {
  const rows = read('docs/operate/limits.md').matchAll(
    /^\| `(\w+)` +\| +(?:([\d,]+)|`'(\w+)'`) \|/gm,
  );
  const listed = [...rows].map(([, name, count = '', time]) => [
    name,
    time === undefined ? Number(count.replaceAll(',', '')) : duration(time),
  ]);
  expect(Object.fromEntries(listed)).toEqual(defaultHostLimits);
});
