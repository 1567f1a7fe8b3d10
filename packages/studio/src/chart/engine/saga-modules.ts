import * as sagas from '@mcp-saga/xstate';
import * as xstate from 'xstate';
import type { Exports } from '../../engine/load-files.ts';
import type { WatchMachine } from '../../engine/playground.ts';
import { watchMachines } from './watch-machines.ts';

/** Modules for machine sagas. */
export const modules: Readonly<Record<string, Exports>> = { xstate, '@mcp-saga/xstate': sagas };

export const watchMachine: WatchMachine = watchMachines(xstate.Actor);
