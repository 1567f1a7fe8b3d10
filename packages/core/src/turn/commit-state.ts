import type { CommitPoint } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import { TurnAborted } from '../values/errors.ts';
import { runtimeAfter } from './interrupted-run.ts';

/** What follows a commit: the runtime of the next turn, or the error of a state that is too large. */
export type Committed = { readonly runtime: Runtime } | { readonly error: unknown };

/**
 * Commits the state of a turn, the same for generators and machines. Undefined if the turn ends
 * here, and another request continues.
 *
 * A state that cannot be kept ends the saga. A host that cannot commit now throws `TurnAborted`, and
 * the token before the turn stays valid.
 */
export async function commitState(
  runtime: Runtime,
  point: CommitPoint,
): Promise<Committed | undefined> {
  const { commit } = runtime.turn;
  // The client reads a page before anything else happens. Reports of waits come again each turn.
  if (commit === undefined || (point.hasPage === true && point.reason !== 'undo')) return undefined;
  try {
    const next = await commit(point);
    return next === undefined ? undefined : { runtime: runtimeAfter(runtime, next) };
  } catch (error) {
    if (error instanceof TurnAborted) throw error;
    return { error };
  }
}
