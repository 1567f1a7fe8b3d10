import * as server from '@mcp-saga/server';
import { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import * as zod from 'zod';
import type { CompiledFile } from '../model/session.ts';
import type { Exports } from './load-files.ts';
import type { WatchMachine } from './playground.ts';

/** Modules for code in the page, and what they report. */
interface Loaded {
  readonly modules: Readonly<Record<string, Exports>>;
  /** Absent for code without machines. */
  readonly watchMachine?: WatchMachine;
}

/** Returns the modules for code in the page. Test hosts are left out, and XState loads with code that imports it, for the size of the page. */
export async function loadModules(files: readonly CompiledFile[]): Promise<Loaded> {
  const modules = {
    '@mcp-saga/server': server,
    '@mcp-saga/testing': { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga },
    zod,
    xstate: {},
    '@mcp-saga/xstate': {},
  };
  if (!files.some(({ code }) => /require\(['"](?:@mcp-saga\/)?xstate['"]\)/.test(code))) return { modules };
  const { modules: more, watchMachine } = await import('../chart/engine/saga-modules.ts');
  return { modules: { ...modules, ...more }, watchMachine };
}
