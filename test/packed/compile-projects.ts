import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.ts';

const { resolve } = createRequire(import.meta.url);
const compiler = fileURLToPath(new URL('compile-by-api.cjs', import.meta.url));

/**
 * Compiles projects as `tsc -p` does. Only the compiler named `typescript` emits.
 *
 * @param typescript - the name of a TypeScript among the dependencies
 * @param projects - paths of their `tsconfig.json`
 * @throws Error with what the compiler reported
 */
export async function compileProjects(
  typescript: string,
  projects: readonly string[],
  cwd: string,
): Promise<void> {
  const folder = dirname(resolve(`${typescript}/package.json`));
  if (typescript !== 'typescript') {
    await run(process.execPath, [compiler, join(folder, 'lib/typescript.js'), ...projects], cwd);
    return;
  }
  // The compiler in Go has no such API. Several threads check the same types several times.
  const flags = ['--singleThreaded', '-p'];
  for (const project of projects) {
    await run(process.execPath, [join(folder, 'bin/tsc'), ...flags, project], cwd, collectRarely);
  }
}

/** Memory limit of a compiler in Go, which frees nothing before. */
const collectRarely = { GOGC: 'off', GOMEMLIMIT: '1GiB' };
