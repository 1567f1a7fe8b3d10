import { expect, it } from 'vitest';
import { duration } from '@mcp-saga/server';
import { defaultHostLimits } from '../../packages/server/src/settings/default-limits.ts';
import { read } from './markdown.ts';

it('the page on host options lists each limit with its default', () => {
  const [, section = ''] = read('docs/reference/host-options.md').split('## `limits`\n');
  const [table = ''] = section.split('\n## ');
  const rows = table.matchAll(/^\| `(\w+)` +\| \w+ +\| (?:([\d,]+)|`'(\w+)'`) +\|/gm);
  const listed = [...rows].map(([, name, count = '', time]) => [
    name,
    time === undefined ? Number(count.replaceAll(',', '')) : duration(time),
  ]);
  expect(Object.fromEntries(listed)).toEqual(defaultHostLimits);
});
