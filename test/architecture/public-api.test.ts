import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages, repository } from './packages.ts';
import { publicApi, publicNames } from './public-api.ts';

describe.each(packages)('%s', (name) => {
  const file = join(repository, 'etc', `${name}.api.md`);

  it('has the public names and signatures in etc, which `pnpm generate api` writes', () => {
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(
      publicApi(join(repository, 'packages', name)),
    );
  });
});

it('exports types for makers of stores and queues from public entries only', () => {
  for (const name of ['redis', 'sql', 'queues']) {
    const folder = join(repository, 'packages', name, 'src');
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
    const internal = files.filter((file) =>
      readFileSync(join(folder, file), 'utf8').includes('/internal'),
    );
    expect([name, internal]).toEqual([name, []]);
  }
});

/**
 * Words for one thing in generators and in machines: a command in `core`, actor logic in `xstate`.
 */
const words = ['approval', 'elicit', 'elicitUrl', 'listRoots', 'sample', 'step', 'waitFor'];

it('uses each exported name for one thing, over all packages', () => {
  const declared = new Map<string, Set<string>>();
  for (const name of packages) {
    for (const [exported, origin] of publicNames(join(repository, 'packages', name)))
      declared.set(exported, (declared.get(exported) ?? new Set()).add(origin));
  }
  const ambiguous = [...declared]
    .filter(([, origins]) => origins.size > 1)
    .map(([exported]) => exported);
  expect(ambiguous.toSorted()).toEqual(words);
});
