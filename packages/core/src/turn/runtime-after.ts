import type { CommittedTurn } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';

/** Makes the runtime of the turn behind a commit, which no earlier run has begun. */
export function runtimeAfter(runtime: Runtime, next: CommittedTurn): Runtime {
  const { receivedAt: _, isInterrupted: __, ...rest } = runtime;
  return { ...rest, ...next };
}
