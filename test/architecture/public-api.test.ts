import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages, repository } from './packages.ts';
import { publicApi, publicNames } from './public-api.ts';

describe.each(packages)('%s', (name) => {
  const file = join(repository, 'etc', `${name}.api.md`);

  it('has the public names and signatures that etc holds: `pnpm api` writes them, for review', () => {
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(
      publicApi(join(repository, 'packages', name)),
    );
  });
});

/** Words for one thing in generators and in machines: a command in `core`, actor logic in `xstate`. */
const words = ['elicit', 'elicitUrl', 'listRoots', 'sample', 'step'];

it('exports one name for one thing, over all packages', () => {
  const declared = new Map<string, Set<string>>();
  for (const name of packages) {
    for (const [exported, origin] of publicNames(join(repository, 'packages', name)))
      declared.set(exported, (declared.get(exported) ?? new Set()).add(origin));
  }
  const ambiguous = [...declared].filter(([, origins]) => origins.size > 1).map(([exported]) => exported);
  expect(ambiguous.toSorted()).toEqual(words);
});
