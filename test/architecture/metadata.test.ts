import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages, repository } from './packages.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly author: string;
  readonly license: string;
  readonly repository?: unknown;
  readonly homepage?: unknown;
  readonly bugs?: unknown;
  readonly engines: { readonly node: string };
  readonly peerDependencies?: { readonly [name: string]: string };
  readonly files: readonly string[];
  readonly exports?: { readonly [entry: string]: unknown };
}

const read = (...path: readonly string[]): string =>
  readFileSync(join(repository, ...path), 'utf8');
const manifestOf = (...folder: readonly string[]): Manifest =>
  JSON.parse(read(...folder, 'package.json')) as Manifest;
const root = manifestOf();

it('requires the Node version of .nvmrc', () => {
  expect(root.engines.node.startsWith(`^${read('.nvmrc').trim()} `)).toBe(true);
});

describe('changesets', () => {
  const config = JSON.parse(read('.changeset/config.json')) as {
    readonly fixed: readonly string[][];
  };
  const names = packages.map((name) => manifestOf('packages', name).name).toSorted();

  it('raise the version of all published packages together, and of no other', () => {
    expect(config.fixed.map((group) => group.toSorted())).toEqual([names]);
  });

  it('cannot raise the major version by a peer of version 0', () => {
    for (const name of packages) {
      const peers = Object.entries(manifestOf('packages', name).peerDependencies ?? {});
      const own = peers.filter(([peer]) => names.includes(peer)).map(([, range]) => range);
      expect(own.filter((range) => range !== 'workspace:>=0.1.0 <1')).toEqual([]);
    }
  });
});

describe.each(packages)('the package %s', (name) => {
  const manifest = manifestOf('packages', name);

  it('requires the same Node versions as the repository', () => {
    expect(manifest.engines).toEqual(root.engines);
  });

  it('has the fields that npm shows: description, keywords, author, license', () => {
    expect(manifest.description).toMatch(/^[A-Z].*\.$/);
    expect(manifest.keywords).toEqual(expect.arrayContaining(['mcp', 'saga']));
    expect(manifest).toMatchObject({ author: root.author, license: root.license });
  });

  it('has the addresses of the package.json of the root', () => {
    expect(manifest).not.toHaveProperty('repository');
    expect(manifest).not.toHaveProperty('homepage');
    expect(manifest).not.toHaveProperty('bugs');
  });

  it('exports its package.json', () => {
    if (manifest.exports !== undefined) expect(manifest.exports).toHaveProperty(['./package.json']);
  });

  it('publishes its source without the page for contributors', () => {
    expect(manifest.files).toEqual(expect.arrayContaining(['src', '!src/README.md']));
  });

  it('has a README without relative links, which npm cannot follow', () => {
    const links = [...read('packages', name, 'README.md').matchAll(/\]\(([^)]*)\)/g)].map(
      ([, target = '']) => target,
    );
    expect(links.filter((target) => !/^(?:https:|#)/.test(target))).toEqual([]);
  });

  it('has an entry for its version in its changelog', () => {
    expect(read('packages', name, 'CHANGELOG.md')).toContain(`\n## ${manifest.version}\n`);
  });
});
