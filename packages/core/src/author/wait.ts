import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import { checkedDuration } from '../values/retry.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';
import type { StepContext } from './step.ts';

/**
 * Continues no earlier than `ms` milliseconds after the body reaches it. Short waits are held in the request. For a longer
 * wait the client gets a token and the time to come again.
 *
 * A late client changes no decision: in a `race` against a question, the sleep wins unless the answer arrives within 30 s
 * after its end. A following sleep begins at that end, too.
 *
 * @param ms - milliseconds, 0 or more; fractions are rounded up
 * @throws AuthoringError for a negative or infinite duration, and for NaN
 * @throws ClientCannot (in the body) if the client cannot be kept waiting that long, or if the sleep would end after the
 * lifetime of its saga (`maxLifetime` of the host, 7 days)
 */
export function sleep(ms: number): Command<void> {
  checkedDuration('The duration of sleep()', ms, 0);
  return command<void>({ kind: 'sleep', id: 'sleep', ms, until: undefined });
}

/** Continues no earlier than `date`, like {@link sleep}. Throws ClientCannot (in the body) if the client cannot wait so long. */
export function sleepUntil(date: Date): Command<void> {
  const until = date instanceof Date ? date.getTime() : Number.NaN;
  if (!Number.isFinite(until)) throw new AuthoringError('sleepUntil() needs a valid date.');
  return command<void>({ kind: 'sleep', id: 'sleep', ms: 0, until });
}

/** Timing of a poll. */
export interface PollOptions {
  /** Milliseconds from one question to the next. Fractions are rounded up. */
  readonly everyMs: number;
  /**
   * Milliseconds until the poll times out, counted from the first question. Fractions are rounded up. With a late client,
   * the question is asked once more before the timeout. A timeout beyond the lifetime of the saga is fine: the poll
   * continues until the end of that lifetime.
   */
  readonly totalTimeoutMs: number;
  /** What the user reads meanwhile, where the client shows it. */
  readonly report?: string | ((facts: { readonly asked: number; readonly elapsedMs: number }) => string);
}

const names = /* @__PURE__ */ optionNames<PollOptions>({ everyMs: true, totalTimeoutMs: true, report: true });

/**
 * Asks an outside system until it answers: `ask` returns undefined for "not yet". It must not change anything, since
 * it may be asked any number of times; only its last answer is journalled.
 *
 * @throws StepTimedOut (in the body) when the timeout has passed
 * @throws ClientCannot (in the body) if the client cannot be kept waiting until it is asked again, or if that would be
 * after the lifetime of the saga
 * @throws StepError (in the body) when `ask` throws
 */
export function poll<R>(
  id: string,
  ask: ((step: Omit<StepContext<undefined>, 'input' | 'idempotencyKey'>) => R | PromiseLike<R>) &
    CheckedResult<R, 'A poll'>,
  options: PollOptions,
): Command<Exclude<R, undefined>> {
  assertStepId(id);
  if (typeof ask !== 'function') throw new AuthoringError(`poll('${id}') needs a function to ask.`);
  assertKnownOptions('poll', id, options, names);
  const { everyMs, totalTimeoutMs, report } = options;
  checkedDuration(`\`everyMs\` of poll('${id}')`, everyMs, 'more than 0');
  checkedDuration(`\`totalTimeoutMs\` of poll('${id}')`, totalTimeoutMs, 'more than 0');
  return command<Exclude<R, undefined>>({ kind: 'poll', id, ask, everyMs, totalTimeoutMs, report });
}
