import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import { AuthoringError } from '../values/errors.ts';
import { encode } from '../values/codec.ts';
import { command } from '../effects/effect-of.ts';
import type { Command, ForkSensitiveCommand } from '../model/command.ts';
import type { UndoPolicy } from '../model/undo-types.ts';
import { assertStepId, checkedTimeout } from '../values/path.ts';
import { toRetryPlan } from '../values/retry.ts';
import type { UndoWithoutResult } from './step.ts';
import { defaultUndoRetry, toUndoWork } from '../undo/undo-all.ts';

/** Options of {@link compensate}. */
export interface CompensateOptions extends UndoPolicy {
  /** Name of the undo in results. Default `compensate`. */
  readonly id?: string;
  /** Description of the undone effect, for people. */
  readonly label?: string;
}

const none: CompensateOptions = {};
const names: NamesOf<CompensateOptions> = {
  id: true,
  label: true,
  retry: true,
  timeout: true,
};

/**
 * Registers an undo that runs if the saga later fails, aborts, or is refused or cancelled. Undos
 * run in reverse order. For the undo of a single step, use the option `compensate` of `step`.
 * @example
 * ```ts
 * function* reserve(): Steps<void> {
 *   yield* compensate(() => db.releaseAll('order-1'), { id: 'release' });
 *   yield* step('reserve', () => db.reserve('order-1'));
 * }
 * ```
 */
export function compensate<U>(
  undo: UndoWithoutResult<undefined, U>,
  options: CompensateOptions = none,
): ForkSensitiveCommand<void> {
  const { id = 'compensate', label, retry, timeout } = options;
  assertStepId(id);
  if (options !== none) assertKnownOptions('compensate', id, options, names);
  const work = toUndoWork(undo, id);
  // Rejects values that cannot be sealed early, while the author sees the error.
  if (work.kind === 'named') encode(work.bound.args);
  return command({
    kind: 'compensate',
    id,
    work,
    label,
    retry: toRetryPlan(id, retry) ?? defaultUndoRetry,
    timeoutMs: checkedTimeout(id, timeout),
  }) as ForkSensitiveCommand<void>;
}

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
export function pivot(id: string): ForkSensitiveCommand<void> {
  assertStepId(id);
  return command({ kind: 'pivot', id }) as ForkSensitiveCommand<void>;
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
    throw new AuthoringError('abort() needs a reason, a text for the client.');
  return command<never>({ kind: 'abort', reason });
}
