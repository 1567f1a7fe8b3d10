import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/make-command.ts';
import type { Command, GuardedCommand } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';

/**
 * Marks the point of no return: steps before the pivot are never undone. Put a pivot after the
 * irreversible effect.
 * @example
 * ```ts
 * function* ship(): Steps<void> {
 *   yield* step('reserve', () => db.reserve(), { compensate: () => db.release() });
 *   yield* step('ship', () => api.ship());
 *   yield* pivot('shipped');
 * }
 * ```
 */
export function pivot(id: string): GuardedCommand<void> {
  assertStepId(id);
  return command({ kind: 'pivot', id }) as GuardedCommand<void>;
}

/**
 * Ends the saga and undoes its steps. The client receives the reason. A `catch` block cannot stop
 * an abort, and `finally` blocks run first, in helpers, too.
 * @throws AuthoringError without a reason
 * @example
 * ```ts
 * function* check(cents: number): Steps<void> {
 *   if (cents > 10_000) yield* abort('Orders over 100 EUR need a manager.');
 * }
 * ```
 */
export function abort(reason: string): Command<never> {
  if (typeof reason !== 'string' || reason === '')
    throw new AuthoringError('abort() needs a reason: a string, which the client receives.', {
      anchor: 'arguments-of-commands',
    });
  return command<never>({ kind: 'abort', reason });
}
