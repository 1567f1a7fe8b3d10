import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import { AuthoringError } from '../values/errors.ts';
import { checkedDuration } from '../values/checked-duration.ts';
import type { Duration } from '../values/duration.ts';
import type { CheckedResult } from './checks/checked-result.ts';
import { command } from '../effects/make-command.ts';
import type { Command } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';
import type { StepContext } from './step.ts';

/**
 * Continues no earlier than a duration after the call, or than a date. The request holds a short
 * wait. For a longer wait, the client gets a token and the time to come back.
 *
 * A late client does not change the decision: in a `race` against a question, the sleep wins unless
 * the answer arrives within 30 s after the end of the sleep. A following sleep begins at that end,
 * too.
 * @param until - a duration of 0 or more, whose fractions of a millisecond are rounded up; or a date
 * @throws AuthoringError for an invalid duration or date
 * @throws ClientCannot (in the body) if the client cannot wait that long, or if the sleep would end
 * after the lifetime of the saga (`limits.maxLifetime` of the host, 7 days)
 * @example
 * ```ts
 * function* remind(): Steps<void> {
 *   yield* sleep('1m');
 *   yield* step('remind', () => mail.send('Still there?'));
 *   yield* sleep(new Date('2027-01-04T08:00:00Z'));
 *   yield* step('report', () => mail.send('The week begins.'));
 * }
 * ```
 */
export function sleep(until: Duration | Date): Command<void> {
  if (!(until instanceof Date)) {
    const ms = checkedDuration('The duration of sleep()', until, 0);
    return command<void>({ kind: 'sleep', id: 'sleep', ms, until: undefined });
  }
  const time = until.getTime();
  if (Number.isNaN(time))
    throw new AuthoringError('The date of sleep() is invalid.', { anchor: 'durations' });
  return command<void>({ kind: 'sleep', id: 'sleep', ms: 0, until: time });
}

/** Timing of a poll. */
export interface PollOptions {
  /** Time from one call of `ask` to the next. Fractions of a millisecond are rounded up. */
  readonly every: Duration;
  /**
   * Time until the poll times out, counted from the first call of `ask`. Fractions of a millisecond
   * are rounded up. If the client returns late, `ask` is called once more before the timeout. The
   * timeout may exceed the lifetime of the saga: the poll then ends with that lifetime.
   */
  readonly timeout: Duration;
  /** Text for the user in the meantime, if the client shows it. */
  readonly report?:
    | string
    | ((facts: { readonly asked: number; readonly elapsedMs: number }) => string);
}

const names: NamesOf<PollOptions> = {
  every: true,
  timeout: true,
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
 *   return yield* poll('build', ask, { every: '5s', timeout: '10m' });
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
  if (typeof ask !== 'function')
    throw new AuthoringError(`poll('${id}') needs a function to ask.`, { anchor: 'steps' });
  assertKnownOptions('poll', id, options, names);
  const { every, timeout, report } = options;
  return command<Exclude<R, undefined>>({
    kind: 'poll',
    id,
    ask,
    everyMs: checkedDuration(`\`every\` of poll('${id}')`, every, 'more than 0'),
    totalTimeoutMs: checkedDuration(`\`timeout\` of poll('${id}')`, timeout, 'more than 0'),
    report,
  });
}
