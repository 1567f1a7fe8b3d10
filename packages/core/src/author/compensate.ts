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
 * Registers an undo from here on: it runs, last first among the others, if the saga fails, is refused, aborted or
 * cancelled later. Steps register theirs with the option `compensate`. (E3)
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
 * Ends the saga and undoes what it did. No `catch` can swallow it; `finally` blocks run first. The client reads the
 * reason. The `finally` of a helper that was called with `yield*` runs up to its first command: call a helper with
 * more to clean up by `scope(id, helper())`. (E6)
 */
export function abort(reason: string): Command<never> {
  if (typeof reason !== 'string' || reason === '')
    throw new AuthoringError('abort() needs a reason, a text for the client.');
  return command<never>({ kind: 'abort', reason });
}
