import { isHarmless, type Explored, type ExploreOptions } from './exploration.ts';
import type { Violation } from './violation.ts';

/**
 * What is wrong with a saga that completed with less than it did: what it undid in a request that died, it did not undo when
 * the request was sent again, since that time it came to something else. A guard keeps what is undone in a turn of its own.
 */
export function keptUndone({ run, stage }: Explored, options: ExploreOptions): Violation | undefined {
  if (run.status !== 'completed') return undefined;
  const undone = [...stage.undoneInVain].find((id) => !isHarmless(id, options));
  if (undone === undefined) return undefined;
  const what =
    `it completed, though '${undone}' was undone in a request that died: sent again, nothing failed any more, and what was ` +
    "undone under the key of a step stays undone. With forks: 'refuse' the guard of the host keeps that it failed before " +
    'anything is undone. Without one, keep it yourself: catch the error, yield* checkpoint(), and throw it again. If it does ' +
    `no harm, say so: { harmless: ['${undone}'] }.`;
  return { what, expects: "expect(run.status).toBe('failed');" };
}
