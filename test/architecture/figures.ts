import { statSync } from 'node:fs';
import { join } from 'node:path';
import { importsOfFolders, sourceFolders } from './folders.ts';
import { packages, repository } from './packages.ts';
import { countNames, membersOf, publicNames } from './public-api.ts';
import { traceRequest } from './trace.ts';

/**
 * One figure of the architecture. It is a result, not a gate: nothing fails because it rises, and a
 * figure that falls because code was merged, nested, or hidden has not fallen.
 */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** What the project wants to reach. */
  readonly target: number;
}

const server = join(repository, 'packages/server');
const core = join(repository, 'packages/core/src');

/** The figures that a command can count. Bundle sizes are counted by `test/packed`. */
export async function figures(): Promise<readonly Figure[]> {
  const { beforeStep, requests } = await traceRequest();
  const files = new Set(beforeStep.map(({ file }) => file));
  const names = packages.map((name) => countNames(join(repository, 'packages', name)));
  return [
    {
      name: 'public names, all entries',
      value: names.reduce((sum, count) => sum + count, 0),
      target: 450,
    },
    { name: 'names exported by server', value: publicNames(server).size, target: 75 },
    { name: 'options and limits of a host', value: countOptions(), target: 45 },
    { name: 'files entered before the step of the author', value: files.size, target: 55 },
    { name: 'calls before the step of the author', value: beforeStep.length, target: 450 },
    { name: 'requests to the guard of that turn', value: requests.length, target: 2 },
    {
      name: 'fields of TurnRequest',
      value: membersOf(join(server, 'src'), 'TurnRequest').length,
      target: 8,
    },
    { name: 'members of Runtime, in all its parts', value: countRuntime(), target: 26 },
    {
      name: 'flags of a dialect',
      value: membersOf(join(server, 'src'), 'DialectCapabilities').length,
      target: 4,
    },
    ...['server', 'core'].map((name) => ({
      name: `pairs of folders of ${name} with an import, of ${countPairs(name)}`,
      value: countTies(name),
      target: 0,
    })),
    {
      name: 'bytes of AGENTS.md',
      value: statSync(join(repository, 'AGENTS.md')).size,
      target: 8_000,
    },
  ];
}

/**
 * Options of `createSagaHost` and `serveSagas`, with each limit and each hook: an object of options
 * counts as its members.
 */
function countOptions(): number {
  const folder = join(server, 'src');
  const counted = new Set<string>();
  const count = (name: string): number => {
    if (counted.has(name)) return 0;
    counted.add(name);
    return membersOf(folder, name).reduce((sum, { types }) => {
      const nested = types.filter((type) => /(?:Hooks|Options|Limits|Order|Source)$/.test(type));
      const below = nested.reduce((inner, type) => inner + count(type), 0);
      return sum + (below === 0 ? 1 : below);
    }, 0);
  };
  return count('SagaHostOptions') + count('ServeSagasOptions');
}

/** What a host gives to a turn: `Runtime` has one object for each part. */
function countRuntime(): number {
  return membersOf(core, 'Runtime').reduce(
    (sum, { types: [type = ''] }) => sum + membersOf(core, type).length,
    0,
  );
}

function countPairs(name: string): number {
  const folders = foldersOf(name).length;
  return (folders * (folders - 1)) / 2;
}

/** Pairs of folders of a package of which at least one imports from the other. */
function countTies(name: string): number {
  const ties = importsOfFolders()
    .filter(({ from }) => from.startsWith(`${name}/src`))
    .map(({ from, to }) => [from, to].toSorted().join(' '));
  return new Set(ties).size;
}

function foldersOf(name: string): readonly string[] {
  return [...sourceFolders().keys()].filter((folder) => folder.startsWith(`${name}/src`));
}
