import * as server from '@mcp-saga/server';
import { crashEverywhere, failEverywhere, refuseEverywhere } from '@mcp-saga/testing';
import { Provider, TestSaga, testSaga } from '@mcp-saga/testing';
import * as zod from 'zod';
import type { CompiledFile } from '../model/session.ts';
import { loaderOf, type Exports } from './load-files.ts';
import { playgroundOf, type Playground } from './playground.ts';

type Files = readonly CompiledFile[];

/** Evaluates versions of the files without earlier state, and finds their scripts. Later versions share unchanged files without imports. */
export async function evaluate(
  first: Files,
  ...later: readonly Files[]
): Promise<[Playground, ...Playground[]]> {
  const evaluated = new Map<string, Exports>();
  const playgrounds: [Playground, ...Playground[]] = [await playgroundIn(first, evaluated)];
  const alone = first.filter(({ name, code }) => evaluated.has(name) && !code.includes("require('./"));
  for (const files of later) {
    const isShared = (old: CompiledFile): boolean =>
      files.some(({ name, code }) => name === old.name && code === old.code);
    const shared = alone.filter(isShared).map(({ name }) => [name, evaluated.get(name) ?? {}] as const);
    playgrounds.push(await playgroundIn(files, new Map(shared)));
  }
  return playgrounds;
}

async function playgroundIn(files: Files, evaluated: Map<string, Exports>): Promise<Playground> {
  const load = loaderOf(files, await loadModules(files), evaluated);
  for (const { name: file } of files) {
    const exports = load(`./${file}`, file);
    for (const [name, script] of Object.entries(exports)) {
      if (script instanceof TestSaga) return playgroundOf(script, exports, { file, name, isScript: true });
    }
  }
  throw new Error('No file exports a script. Add: export const script = testSaga(saga, { input });');
}

/** Returns the modules for code in the page. Test hosts are left out, and XState loads on use, for the size of the page. */
async function loadModules(files: Files): Promise<Readonly<Record<string, Exports>>> {
  const hasMachines = files.some(({ code }) => /require\(['"](?:@mcp-saga\/)?xstate['"]\)/.test(code));
  const { sagas, xstate, watchMachines } = hasMachines ? await import('./saga-modules.ts') : {};
  if (xstate !== undefined) watchMachines?.(xstate.Actor);
  return {
    '@mcp-saga/server': server,
    '@mcp-saga/testing': { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga },
    '@mcp-saga/xstate': sagas ?? {},
    xstate: xstate ?? {},
    zod,
  };
}
