import * as server from '@mcp-saga/server';
import {
  crashEverywhere,
  failEverywhere,
  Provider,
  refuseEverywhere,
  TestSaga,
} from '@mcp-saga/testing';
import { testSaga } from '@mcp-saga/testing';
import * as zod from 'zod';
import type { CompiledFile } from '../model/session.ts';
import { loaderOf, type Exports } from './load-files.ts';
import { machines, playgroundOf, type Playground } from './playground.ts';
import type * as Machines from './saga-modules.ts';

type Files = readonly CompiledFile[];
type Modules = Readonly<Record<string, Exports>>;

/**
 * Modules for machines. They come with code that imports them, so that a worker makes no request.
 */
export const machineFile = 'saga-modules.ts';

/**
 * Evaluates versions of the files without earlier state, and finds their scripts. Later versions
 * share unchanged files without imports.
 */
export async function evaluate(
  loadMachines: (files: Files) => Promise<typeof Machines> | undefined,
  first: Files,
  ...later: readonly Files[]
): Promise<[Playground, ...Playground[]]> {
  const modules = modulesWith(await loadMachines([first, ...later].flat()));
  const evaluated = new Map<string, Exports>();
  const playgrounds: [Playground, ...Playground[]] = [playgroundIn(first, modules, evaluated)];
  const alone = first.filter(
    ({ name, code }) => evaluated.has(name) && !code.includes("require('./"),
  );
  for (const files of later) {
    const isShared = (old: CompiledFile): boolean =>
      files.some(({ name, code }) => name === old.name && code === old.code);
    const shared = alone
      .filter(isShared)
      .map(({ name }) => [name, evaluated.get(name) ?? {}] as const);
    playgrounds.push(playgroundIn(files, modules, new Map(shared)));
  }
  return playgrounds;
}

function playgroundIn(files: Files, modules: Modules, evaluated: Map<string, Exports>): Playground {
  const load = loaderOf(files, modules, evaluated);
  for (const { name: file } of files.filter(({ name }) => name !== machineFile)) {
    const exports = load(`./${file}`, file);
    for (const [name, script] of Object.entries(exports)) {
      if (script instanceof TestSaga)
        return playgroundOf(script, exports, { file, name, isScript: true });
    }
  }
  throw new Error(
    'No file exports a script. Add: export const script = testSaga(saga, { input });',
  );
}

/** Returns the modules for code in the page. Test hosts are left out, for the size of the page. */
function modulesWith(loaded: typeof Machines | undefined): Modules {
  if (loaded !== undefined) machines.trace = loaded.watchMachines(loaded.xstate.Actor);
  return {
    '@mcp-saga/server': server,
    '@mcp-saga/testing': { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga },
    '@mcp-saga/xstate': loaded?.sagas ?? {},
    xstate: loaded?.xstate ?? {},
    zod,
  };
}
