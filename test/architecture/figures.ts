import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, repository } from './packages.ts';
import { memberCount, publicNames } from './public-api.ts';
import { sourceFolders } from './folders.ts';

/** One figure of the architecture: what it is now, and the most that it may be. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** Lower it when the figure falls. It never rises. */
  readonly limit: number;
  /** What the project wants to reach. */
  readonly target: number;
}

/** The object that all requests get, and the groups in it. There is no flat type of all settings. */
const hostParts = ['HostParts', 'Keys', 'Gate', 'Timing', 'Observer', 'Answers', 'Offers'];

/** The figures of the architecture, counted. Import cycles are an error of the lint; sizes are counted by `test/packed`. */
export function figures(): readonly Figure[] {
  const { files, frames } = oneResume();
  // The target is that of the packages there were when it was set. The lint rules have a row of their own.
  const lines = packages.filter((name) => name !== 'eslint-plugin').map((name) => linesOf(name));
  const all = lines.reduce((sum, count) => sum + count, 0);
  return [
    {
      name: 'source files in the fullest folder',
      value: Math.max(...[...sourceFolders().values()].map(({ length }) => length)),
      limit: 15,
      target: 15,
    },
    { name: 'source files entered by one guarded resume', value: files.length, limit: 74, target: 55 },
    { name: 'frames of the host before core is entered', value: frames.length, limit: 5, target: 5 },
    {
      name: 'members of Runtime',
      value: memberCount(join(repository, 'packages/core/src'), 'Runtime'),
      limit: 40,
      target: 24,
    },
    {
      name: 'members of the largest part of a host',
      value: Math.max(...hostParts.map((name) => memberCount(join(repository, 'packages/server/src'), name))),
      limit: 9,
      target: 9,
    },
    { name: 'source lines of all packages but eslint-plugin', value: all, limit: 38_410, target: 28_500 },
    { name: 'source lines of eslint-plugin', value: linesOf('eslint-plugin'), limit: 890, target: 890 },
    { name: 'source lines of testing', value: linesOf('testing'), limit: 9_288, target: 6_000 },
    {
      name: 'names exported by server',
      value: publicNames(join(repository, 'packages/server')).size,
      limit: 110,
      target: 120,
    },
  ];
}

function linesOf(name: string): number {
  const root = join(repository, 'packages', name, 'src');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .reduce((sum, file) => sum + readFileSync(join(root, file), 'utf8').split('\n').length - 1, 0);
}

function oneResume(): { readonly files: readonly string[]; readonly frames: readonly string[] } {
  const printed = execFileSync(
    process.execPath,
    ['--import', 'tsx', join(repository, 'test/architecture/one-resume.ts')],
    { encoding: 'utf8', cwd: repository },
  );
  return JSON.parse(printed) as ReturnType<typeof oneResume>;
}
