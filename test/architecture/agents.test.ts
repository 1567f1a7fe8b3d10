import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository, sources } from './packages.ts';
import { traceRequest } from './trace.ts';

const read = (page: string): string => readFileSync(join(repository, page), 'utf8');
const agents = read('AGENTS.md');
const pages = [
  'AGENTS.md',
  'CONTRIBUTING.md',
  'test/README.md',
  ...sources.map((name) => `packages/${name}/src/README.md`),
];

const listing = ['ls-files', '--cached', '--others', '--exclude-standard'];
const files = execFileSync('git', listing, { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .map((file) => `/${file}`);

it.each(pages)('%s names only files that exist', (page) => {
  const cited = [...read(page).matchAll(/`([\w./-]+\.(?:ts|js|json|mjs|md|svg))`/g)].map(
    ([, name = '']) => name,
  );
  const missing = cited.filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
  expect(missing).toEqual([]);
});

it.each(sources)('AGENTS.md names the packages that %s depends on', (name) => {
  const [, map = ''] = /^## Map\n(.*?)^## /ms.exec(agents) ?? [];
  const line = map.split('\n').find((one) => one.split(':')[0]?.includes(`\`${name}\``)) ?? '';
  const [, named = ''] = /^- [^:]*\(([^)]*)\):/.exec(line) ?? [];
  expect(line).not.toBe('');
  expect(named.split(', ').filter(Boolean).toSorted()).toEqual(dependenciesOf(name).toSorted());
});

it('AGENTS.md names only scripts that package.json has', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const [, list = ''] = /^## Commands\n(.*?)^## /ms.exec(agents) ?? [];
  const names = [...list.matchAll(/^- `([^` ]+)/gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => name !== 'exec' && !(name in scripts))).toEqual([]);
});

it('AGENTS.md follows one resumed saga in the order in which it enters its functions', async () => {
  const [, walk = ''] = /^## One `tools\/resumeSaga`\n(.*?)^## /ms.exec(agents) ?? [];
  const steps = walk.split('\n').filter((line) => /^\d+\. /.test(line));
  expect(steps.length).toBeGreaterThan(5);
  expect(steps.length).toBeLessThanOrEqual(15);
  const placesOf = (line: string): readonly string[] =>
    [...line.matchAll(/`([\w/-]+\.ts)` `(\w+)`/g)].map(
      ([, file = '', name = '']) => `${packageOf(file)}/src/${file} ${name}`,
    );
  expect(steps.filter((line) => placesOf(line).length === 0)).toEqual([]);
  const places = steps.flatMap(placesOf);
  const { all } = await traceRequest();
  const entered = all.map(({ file, name }) => `${file} ${name}`);
  const order = new Map(places.map((place) => [place, entered.indexOf(place)]));
  expect([...order].filter(([, first]) => first < 0).map(([place]) => place)).toEqual([]);
  expect(places).toEqual(places.toSorted((one, other) => order.get(one)! - order.get(other)!));
});

/** The package of a file of the walk: only one of the two has it. */
function packageOf(file: string): string | undefined {
  const owners = ['server', 'core'].filter((name) =>
    existsSync(join(repository, 'packages', name, 'src', file)),
  );
  expect(owners, file).toHaveLength(1);
  return owners[0];
}

/** The packages of this repository that a package depends on, by the names of their folders. */
function dependenciesOf(name: string): readonly string[] {
  const manifestOf = (folder: string): Manifest =>
    JSON.parse(read(`packages/${folder}/package.json`)) as Manifest;
  const manifest = manifestOf(name);
  // The studio is bundled: all that it imports is a development dependency.
  const all = manifest.private === true ? manifest.devDependencies : manifest.dependencies;
  const needed = { ...all, ...manifest.peerDependencies };
  return sources.filter((folder) => manifestOf(folder).name in needed);
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}
