import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Candidate } from '../harness.ts';
import { loadDurableFunctions } from './durable-functions.ts';
import { loadInngest } from './inngest.ts';
import type { Load } from './load.ts';
import { loadRestate } from './restate.ts';

/** What the libraries compared with can be asked to do. */
export interface Peers {
  /** Replays an orchestrator over the history of this many activities. */
  durableFunctions(entries: number): Candidate;
  /** Runs a generator whose journal has the results of this many `run`s. */
  restate(entries: number): Candidate;
  /** Answers a request of a run with this many memoised steps: replays them and runs the next. */
  inngest(entries: number): Candidate;
}

/** Loads what `installPeers` installed. */
export function loadPeers(folder: string): Peers {
  const load: Load = createRequire(join(folder, 'package.json'));
  return {
    durableFunctions: loadDurableFunctions(load),
    restate: loadRestate(load),
    inngest: loadInngest(load),
  };
}
