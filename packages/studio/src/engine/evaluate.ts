import { TestSaga } from '@mcp-saga/testing';
import type { CompiledFile } from '../model/session.ts';
import { loaderOf, type Exports } from './load-files.ts';
import { loadModules } from './modules.ts';
import { playgroundOf, type Playground } from './playground.ts';

type Evaluated = readonly [Playground, ...Playground[]];

/**
 * Evaluates versions of the files anew, without the state of an earlier run, and finds their scripts. The later versions share the
 * outside world of the first: unchanged files that import no other file.
 */
export async function evaluate([
  first = [],
  ...later
]: readonly (readonly CompiledFile[])[]): Promise<Evaluated> {
  const evaluated = new Map<string, Exports>();
  const playground = await playgroundIn(first, evaluated);
  const alone = first.filter(({ name, code }) => evaluated.has(name) && !code.includes("require('./"));
  const others = later.map(async (files) => {
    const shared = alone.filter((old) =>
      files.some(({ name, code }) => name === old.name && code === old.code),
    );
    return await playgroundIn(files, new Map(shared.map(({ name }) => [name, evaluated.get(name) ?? {}])));
  });
  return [playground, ...(await Promise.all(others))];
}

async function playgroundIn(
  files: readonly CompiledFile[],
  evaluated: Map<string, Exports>,
): Promise<Playground> {
  const { modules, watchMachine } = await loadModules(files);
  const load = loaderOf(files, modules, evaluated);
  for (const { name: file } of files) {
    const exports = load(`./${file}`, file);
    for (const [name, script] of Object.entries(exports)) {
      if (script instanceof TestSaga)
        return playgroundOf(script, exports, { file, name, isScript: true }, watchMachine);
    }
  }
  throw new Error('No file exports a script. Add: export const script = testSaga(saga, { input });');
}
