import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packages, repository } from './packages.ts';
import { memberCount, publicNames } from './public-api.ts';
import { sourceFolders } from './folders.ts';

/** One figure of the architecture, with its limit. */
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

/** What a host gives to a turn. `RuntimeQuestions` and the others are the parts of `Runtime`. */
const runtimeParts = ['Saga', 'Turn', 'Request', 'Time', 'Questions', 'Effects', 'Observer'];

/** The figures of the architecture, counted. Import cycles are an error of the lint; sizes are counted by `test/packed`. */
export function figures(): readonly Figure[] {
  const { files, frames } = oneResume();
  // The target is that of the packages there were when it was set. Later packages have rows of their own.
  const apart = ['eslint-plugin', 'create-mcp-saga', 'sql', 'queues', 'cloudflare', 'cli'];
  const lines = packages.filter((name) => !apart.includes(name)).map((name) => linesOf(name));
  const outside = outsideFolders.reduce((sum, folder) => sum + linesIn(folder), 0);
  const all = lines.reduce((sum, count) => sum + count, 0) - outside;
  const core = join(repository, 'packages/core/src');
  const ofRuntime = runtimeParts.map((part) => memberCount(core, `Runtime${part}`));
  return [
    {
      name: 'source files in the fullest folder',
      value: Math.max(...[...sourceFolders().values()].map(({ length }) => length)),
      limit: 15,
      target: 15,
    },
    { name: 'source files entered by one guarded resume', value: files.length, limit: 69, target: 55 },
    { name: 'frames of the host before core is entered', value: frames.length, limit: 5, target: 5 },
    {
      name: 'members of the largest part of Runtime',
      value: Math.max(memberCount(core, 'Runtime'), memberCount(core, 'ProgramLimits'), ...ofRuntime),
      limit: 8,
      target: 24,
    },
    {
      name: 'members of all parts of Runtime, its limits as one',
      value: ofRuntime.reduce((sum, count) => sum + count, 1),
      limit: 38,
      target: 24,
    },
    {
      name: 'members of the largest part of a host',
      value: Math.max(...hostParts.map((name) => memberCount(join(repository, 'packages/server/src'), name))),
      limit: 9,
      target: 9,
    },
    {
      name: 'source lines of all packages but those with rows of their own',
      value: all,
      // Raised from 38,355 for keys from a source, woken turns, mailboxes in Redis, links of stopped sagas, data of statecharts, and the
      // tests' words for them. Then 95 lines of the limit moved here from studio, with the drawing of a run.
      limit: 43_086,
      target: 28_500,
    },
    {
      name: 'source lines of answers from outside, and of queues',
      value: outside,
      limit: 2_251,
      target: 2_200,
    },
    { name: 'source lines of eslint-plugin', value: linesOf('eslint-plugin'), limit: 903, target: 890 },
    { name: 'source lines of create-mcp-saga', value: linesOf('create-mcp-saga'), limit: 651, target: 640 },
    // The drawing of a run moved here from studio, with its lines of the limit.
    { name: 'source lines of testing', value: linesOf('testing'), limit: 9_811, target: 6_000 },
    { name: 'source lines of cloudflare', value: linesOf('cloudflare'), limit: 779, target: 780 },
    { name: 'source lines of cli', value: linesOf('cli'), limit: 3_864, target: 2_578 },
    { name: 'source lines of studio', value: linesOf('studio'), limit: 4_513, target: 1_800 },
    { name: 'source lines of sql', value: linesOf('sql'), limit: 910, target: 900 },
    { name: 'source lines of queues', value: linesOf('queues'), limit: 594, target: 575 },
    {
      name: 'names exported by server',
      value: publicNames(join(repository, 'packages/server')).size,
      limit: 119,
      target: 120,
    },
  ];
}

/** Answers from outside, and queues: folders that no figure of the first release had. */
const outsideFolders = ['core/src/author/outside', 'server/src/outside', 'server/src/queue'];

const linesOf = (name: string): number => linesIn(`${name}/src`);

function linesIn(folder: string): number {
  const root = join(repository, 'packages', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
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
