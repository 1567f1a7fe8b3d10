import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import { AuthoringError } from '../values/errors.ts';
import { checkedDuration } from '../values/retry.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';
import type { StepContext } from './step.ts';

/**
 * Continues no earlier than `ms` milliseconds after the call. The request holds a short wait. For a
 * longer wait, the client gets a token and the time to come back.
 *
 * A late client does not change the decision: in a `race` against a question, the sleep wins unless
 * the answer arrives within 30 s after the end of the sleep. A following sleep begins at that end,
 * too.
 * @param ms - milliseconds, 0 or more; fractions are rounded up
 * @throws AuthoringError for a negative or infinite duration, and for NaN
 * @throws ClientCannot (in the body) if the client cannot wait that long, or if the sleep would end
 * after the lifetime of the saga (`limits.maxLifetimeMs` of the host, 7 days)
 * @example
 * ```ts
 * function* remind(): Steps<void> {
 *   yield* sleep(60_000);
 *   yield* step('remind', () => mail.send('Still there?'));
 * }
 * ```
 */
export function sleep(ms: number): Command<void> {
  checkedDuration('The duration of sleep()', ms, 0);
  return command<void>({ kind: 'sleep', id: 'sleep', ms, until: undefined });
}

/**
 * Continues no earlier than `date`, like {@link sleep}.
 * @throws AuthoringError for an invalid date
 * @throws ClientCannot (in the body) if the client cannot wait that long
 * @example
 * ```ts
 * function* onMonday(): Steps<void> {
 *   yield* sleepUntil(new Date('2027-01-04T08:00:00Z'));
 *   yield* step('report', () => mail.send('The week begins.'));
 * }
 * ```
 */
export function sleepUntil(date: Date): Command<void> {
  const until = date instanceof Date ? date.getTime() : Number.NaN;
  if (!Number.isFinite(until)) throw new AuthoringError('sleepUntil() needs a valid date.');
  return command<void>({ kind: 'sleep', id: 'sleep', ms: 0, until });
}

/** Timing of a poll. */
export interface PollOptions {
  /** Time from one call of `ask` to the next, in milliseconds. Fractions are rounded up. */
  readonly everyMs: number;
  /**
   * Milliseconds until the poll times out, counted from the first call of `ask`. Fractions are
   * rounded up. If the client returns late, `ask` is called once more before the timeout. The
   * timeout may exceed the lifetime of the saga: the poll then ends with that lifetime.
   */
  readonly totalTimeoutMs: number;
  /** Text for the user in the meantime, if the client shows it. */
  readonly report?:
    | string
    | ((facts: { readonly asked: number; readonly elapsedMs: number }) => string);
}

const names: NamesOf<PollOptions> = {
  everyMs: true,
  totalTimeoutMs: true,
  report: true,
};

/**
 * Calls `ask` until it returns a value other than undefined, which means "not yet". `ask` runs any
 * number of times and must not change anything. The journal records only the last value.
 * @throws StepTimedOut (in the body) when the timeout has passed
 * @throws ClientCannot (in the body) if the client cannot wait until the next call of `ask`, or if
 * the saga ends before it
 * @throws StepError (in the body) when `ask` throws
 * @example
 * ```ts
 * function* build(): Steps<string> {
 *   const ask = async (): Promise<string | undefined> => api.resultOf('build-1');
 *   return yield* poll('build', ask, { everyMs: 5_000, totalTimeoutMs: 600_000 });
 * }
 * ```
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
