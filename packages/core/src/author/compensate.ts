import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import type { CheckedUndo } from './checks/checked-undo.ts';
import { encode } from '../values/codec.ts';
import { command } from '../effects/effect-of.ts';
import type { Command, ForkSensitiveCommand } from '../model/command.ts';
import type { BoundUndo, UndoFunction, UndoPolicy } from '../model/undo.ts';
import { assertStepId } from '../values/path.ts';
import { toRetryPolicy } from '../values/retry.ts';
import { defaultUndoRetry, toUndoWork } from '../undo/undo-all.ts';

/** How an undo is registered. */
export interface CompensateOptions extends UndoPolicy {
  /** Names it in results and residue. Default `compensate`. */
  readonly id?: string;
  /** What it undoes, for people. */
  readonly label?: string;
}

const none: CompensateOptions = {};
const names = /* @__PURE__ */ optionNames<CompensateOptions>({
  id: true,
  label: true,
  retry: true,
  timeoutMs: true,
});

/**
 * Registers an undo that runs, last first, if the saga fails, is refused, aborted, or cancelled later. Steps use their option
 * `compensate`.
 */
export function compensate<U>(
  undo: (UndoFunction<undefined, undefined> & CheckedUndo<U>) | BoundUndo,
  options: CompensateOptions = none,
): ForkSensitiveCommand<void> {
  const { id = 'compensate', label, retry, timeoutMs } = options;
  assertStepId(id);
  if (options !== none) assertKnownOptions('compensate', id, options, names);
  const work = toUndoWork(undo, id);
  // What cannot be sealed is refused here, where its author reads it.
  if (work.kind === 'named') encode(work.bound.args);
  return command({
    kind: 'compensate',
    id,
    work,
    label,
    retry: toRetryPolicy(id, retry) ?? defaultUndoRetry,
    timeoutMs,
  }) as ForkSensitiveCommand<void>;
}

/**
 * The point of no return: what came before it is never undone. Put it after the effect that cannot be taken back. (E5)
 */
export function pivot(id: string): ForkSensitiveCommand<void> {
  assertStepId(id);
  return command({ kind: 'pivot', id }) as ForkSensitiveCommand<void>;
}

/**
 * Ends the saga and undoes its steps. No `catch` can stop it; `finally` blocks run first. The client reads the reason. A helper
 * called with `yield*` cleans up to its first command: call it by `scope(id, helper())` if it has more.
 */
export function abort(reason: string): Command<never> {
  if (typeof reason !== 'string' || reason === '')
    throw new AuthoringError('abort() needs a reason, a text for the client.');
  return command<never>({ kind: 'abort', reason });
}
