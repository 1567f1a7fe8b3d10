import { assertKnownOptions } from './known-options.ts';
import type { NamesOf } from './unknown-option.ts';
import { problemOfDuration } from './checked-duration.ts';
import { millisecondsOf, type Duration } from './duration.ts';
import { AuthoringError } from './errors.ts';

/** Retries of a server step. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /** Time before the second attempt. Fractions of a millisecond are rounded up. Default 200 ms. */
  readonly delay?: Duration;
  /** Factor from one delay to the next. Default 2. */
  readonly factor?: number;
  /** Longest delay. Default one minute, or `delay` if that is longer. `Infinity`: no limit. */
  readonly maxDelay?: Duration;
  /**
   * Draws each delay between half and full length, to spread the retries of many clients. Default
   * `true`.
   */
  readonly jitter?: boolean;
  /** Returns `true` if a thrown error is worth another attempt. Default: every error. */
  readonly when?: (error: unknown) => boolean;
}

/** A policy with its defaults, and with times in milliseconds. */
export interface RetryPlan extends Pick<RetryPolicy, 'attempts' | 'when'> {
  readonly delayMs: number;
  readonly factor: number;
  readonly maxDelayMs: number;
  readonly jitter: boolean;
}

/** Names of the members of a policy. */
export const retryNames: NamesOf<RetryPolicy> = {
  attempts: true,
  delay: true,
  factor: true,
  maxDelay: true,
  jitter: true,
  when: true,
};

// 100 years: a doubling delay without a cap must stay a valid time when added to the time of day.
const longestDelay = 100 * 365 * 24 * 60 * 60 * 1000;

/** Completes the policy of a step. Throws an `AuthoringError` for invalid values. */
export function toRetryPlan(
  id: string,
  retry: RetryPolicy | number | undefined,
): RetryPlan | undefined {
  if (retry === undefined) return undefined;
  if (typeof retry !== 'number') assertKnownOptions('retry of step', id, retry, retryNames);
  return completePolicy(
    retry,
    (member, problem) =>
      new AuthoringError(`retry.${member} of step '${id}' ${problem}`, { anchor: 'steps' }),
  );
}

/**
 * Completes a policy.
 * @param toError - makes the error for a member with an invalid value
 */
export function completePolicy(
  retry: RetryPolicy | number,
  toError: (member: keyof RetryPolicy, problem: string) => Error,
): RetryPlan {
  const policy = typeof retry === 'number' ? { attempts: retry } : retry;
  const { attempts, delay = 200, factor = 2, jitter = true, when } = policy;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw toError('attempts', 'must be a whole number from 1.');
  if (!(Number.isFinite(factor) && factor >= 1))
    throw toError('factor', 'must be a finite number that is 1 or more.');
  const problem = problemOfDuration(delay, 0);
  if (problem !== undefined) throw toError('delay', problem);
  // A longest delay that is shorter than the first would silently shorten it.
  const { maxDelay = Math.max(60_000, millisecondsOf(delay)) } = policy;
  // Without a limit, delays grow for the lifetime of the saga.
  const problemOfMost =
    maxDelay === Number.POSITIVE_INFINITY ? undefined : problemOfDuration(maxDelay, 0);
  if (problemOfMost !== undefined) throw toError('maxDelay', problemOfMost);
  return {
    attempts,
    delayMs: millisecondsOf(delay),
    factor,
    maxDelayMs: millisecondsOf(maxDelay),
    jitter,
    ...(when && { when }),
  };
}

/**
 * Milliseconds before the next attempt; undefined after the last. `attempt` counts from 1; `random`
 * is in [0, 1).
 */
export function delayAfter(
  plan: RetryPlan | undefined,
  attempt: number,
  error: unknown,
  random: () => number,
): number | undefined {
  if (plan === undefined || attempt >= plan.attempts) return undefined;
  if (plan.when !== undefined && !plan.when(error)) return undefined;
  const { delayMs, factor, maxDelayMs, jitter } = plan;
  const full = Math.min(maxDelayMs, longestDelay, delayMs * factor ** (attempt - 1));
  return Math.ceil(jitter ? full * (0.5 + random() / 2) : full);
}
