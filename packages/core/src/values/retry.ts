import { assertKnownOptions } from './known-options.ts';
import type { NamesOf } from './unknown-option.ts';
import { checkedDuration } from './checked-duration.ts';
import type { Duration } from './duration.ts';
import { AuthoringError } from './errors.ts';

/** Retries of a server step. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /** Time before the second attempt. Fractions of a millisecond are rounded up. Default 200 ms. */
  readonly delay?: Duration;
  /** Factor from one delay to the next. Default 2. */
  readonly factor?: number;
  /** Longest delay. Default one minute. `Infinity`: no limit. */
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

const names: NamesOf<RetryPolicy> = {
  attempts: true,
  delay: true,
  factor: true,
  maxDelay: true,
  jitter: true,
  when: true,
};

// 100 years: a doubling delay without a cap must stay a valid time when added to the time of day.
const longestDelay = 100 * 365 * 24 * 60 * 60 * 1000;

/** Completes a policy. Throws an `AuthoringError` for invalid values. */
export function toRetryPlan(
  id: string,
  retry: RetryPolicy | number | undefined,
): RetryPlan | undefined {
  if (retry === undefined) return undefined;
  const policy = typeof retry === 'number' ? { attempts: retry } : retry;
  if (typeof retry !== 'number') assertKnownOptions('retry of step', id, retry, names);
  const { attempts, delay = 200, factor = 2, maxDelay = 60_000, jitter = true, when } = policy;
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new AuthoringError(`retry.attempts of step '${id}' must be a whole number from 1.`);
  }
  if (!(Number.isFinite(factor) && factor >= 1)) {
    throw new AuthoringError(
      `retry.factor of step '${id}' must be a finite number that is 1 or more.`,
    );
  }
  const delayMs = checkedDuration(`retry.delay of step '${id}'`, delay, 0);
  // Without a limit, delays grow for the lifetime of the saga.
  const maxDelayMs =
    maxDelay === Number.POSITIVE_INFINITY
      ? maxDelay
      : checkedDuration(`retry.maxDelay of step '${id}'`, maxDelay, 0);
  return { attempts, delayMs, factor, maxDelayMs, jitter, ...(when && { when }) };
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
