import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from './packages.ts';

const agents = readFileSync(join(repository, 'AGENTS.md'), 'utf8');

it('AGENTS.md names only files that exist', () => {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
    encoding: 'utf8',
  });
  const files = listed.split('\n').map((file) => `/${file}`);
  const cited = [...agents.matchAll(/`([\w./-]+\.(?:ts|js|json|mjs))`/g)].map(
    ([, name = '']) => name,
  );
  const missing = cited.filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
  expect(missing).toEqual([]);
});

it('AGENTS.md follows one resumed saga in at most 15 lines, each with its file', () => {
  const [, walk = ''] = /^## One `tools\/resumeSaga`\n\n(.*?)\n\n/ms.exec(agents) ?? [];
  const lines = walk.split('\n');
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.length).toBeLessThanOrEqual(15);
  expect(lines.filter((line) => !/`[\w/-]+\.ts`/.test(line))).toEqual([]);
});
