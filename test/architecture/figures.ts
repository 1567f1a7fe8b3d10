import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './packages.ts';
import { memberCount, publicNames } from './public-api.ts';

/** One figure of the architecture. It is a result, not a gate. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** What the project wants to reach. */
  readonly target: number;
}

/**
 * The object that all requests get, and the groups in it. There is no flat type of all settings.
 */
const hostParts = ['HostParts', 'Keys', 'Gate', 'Timing', 'Observer', 'Answers', 'Offers'];

/** What a host gives to a turn. `RuntimeQuestions` and the others are the parts of `Runtime`. */
const runtimeParts = ['Saga', 'Turn', 'Request', 'Time', 'Questions', 'Effects', 'Observer'];

/**
 * The figures of the architecture, counted. Import cycles are an error of the lint; bundle sizes
 * are counted by `test/packed`.
 */
export function figures(): readonly Figure[] {
  const { files, frames } = oneResume();
  const core = join(repository, 'packages/core/src');
  const ofRuntime = runtimeParts.map((part) => memberCount(core, `Runtime${part}`));
  return [
    { name: 'source files entered by one guarded resume', value: files.length, target: 55 },
    { name: 'frames of the host before core is entered', value: frames.length, target: 5 },
    {
      name: 'members of the largest part of Runtime',
      value: Math.max(
        memberCount(core, 'Runtime'),
        memberCount(core, 'ProgramLimits'),
        ...ofRuntime,
      ),
      target: 24,
    },
    {
      name: 'members of all parts of Runtime, its limits as one',
      value: ofRuntime.reduce((sum, count) => sum + count, 1),
      target: 24,
    },
    {
      name: 'members of the largest part of a host',
      value: Math.max(
        ...hostParts.map((name) => memberCount(join(repository, 'packages/server/src'), name)),
      ),
      target: 9,
    },
    {
      name: 'names exported by server',
      value: publicNames(join(repository, 'packages/server')).size,
      target: 120,
    },
  ];
}

function oneResume(): { readonly files: readonly string[]; readonly frames: readonly string[] } {
  const printed = execFileSync(
    process.execPath,
    ['--import', 'tsx', join(repository, 'test/architecture/one-resume.ts')],
    { encoding: 'utf8', cwd: repository },
  );
  return JSON.parse(printed) as ReturnType<typeof oneResume>;
}
