import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Candidate } from '../harness.ts';
import { loadDurableFunctions } from './durable-functions.ts';
import { loadInngest } from './inngest.ts';
import type { Load } from './load.ts';
import { loadRestate } from './restate.ts';

/** Operations of the compared libraries. */
export interface Peers {
  /** Replays an orchestrator with a history of the given number of activities. */
  durableFunctions(entries: number): Candidate;
  /** Runs a generator whose journal contains the results of the given number of `run` calls. */
  restate(entries: number): Candidate;
  /**
   * Answers a request of a run with the given number of memoized steps: replays them, and runs the
   * next step.
   */
  inngest(entries: number): Candidate;
}

/** Loads the libraries that `installPeers` installed. */
export function loadPeers(folder: string): Peers {
  const load: Load = createRequire(join(folder, 'package.json'));
  return {
    durableFunctions: loadDurableFunctions(load),
    restate: loadRestate(load),
    inngest: loadInngest(load),
  };
}
