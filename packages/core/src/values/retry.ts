import { assertKnownOptions } from './known-options.ts';
import type { NamesOf } from './unknown-option.ts';
import { AuthoringError } from './errors.ts';

/** Retries of a server step. */
export interface RetryPolicy {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /**
   * Time before the second attempt, in milliseconds. Fractions of a delay are rounded up. Default
   * 200.
   */
  readonly delayMs?: number;
  /** Factor from one delay to the next. Default 2. */
  readonly factor?: number;
  /** Maximum delay, in milliseconds. Default 60,000. */
  readonly maxDelayMs?: number;
  /**
   * Draws each delay between half and full length, to spread the retries of many clients. Default
   * `true`.
   */
  readonly jitter?: boolean;
  /** Returns `true` if a thrown error is worth another attempt. Default: every error. */
  readonly when?: (error: unknown) => boolean;
}

const names: NamesOf<RetryPolicy> = {
  attempts: true,
  delayMs: true,
  factor: true,
  maxDelayMs: true,
  jitter: true,
  when: true,
};

// 100 years: a doubling delay without a cap must stay a valid time when added to the time of day.
const longestDelay = 100 * 365 * 24 * 60 * 60 * 1000;

/** Checks a policy. Throws an `AuthoringError` for invalid numbers. */
export function toRetryPolicy(
  id: string,
  retry: RetryPolicy | number | undefined,
): RetryPolicy | undefined {
  if (retry === undefined) return undefined;
  const policy = typeof retry === 'number' ? { attempts: retry } : retry;
  if (typeof retry !== 'number') assertKnownOptions('retry of step', id, retry, names);
  const { attempts, delayMs = 0, factor = 1, maxDelayMs = 0 } = policy;
  if (!Number.isInteger(attempts) || attempts < 1) {
    throw new AuthoringError(`retry.attempts of step '${id}' must be a whole number from 1.`);
  }
  checkedDuration(`retry.delayMs of step '${id}'`, delayMs, 0);
  // Without a cap, delays double for the lifetime of the saga.
  if (maxDelayMs !== Number.POSITIVE_INFINITY)
    checkedDuration(`retry.maxDelayMs of step '${id}'`, maxDelayMs, 0);
  if (!(Number.isFinite(factor) && factor >= 1)) {
    throw new AuthoringError(
      `retry.factor of step '${id}' must be a finite number that is 1 or more.`,
    );
  }
  return policy;
}

/**
 * Milliseconds before the next attempt; undefined after the last. `attempt` counts from 1; `random`
 * is in [0, 1).
 */
export function delayAfter(
  policy: RetryPolicy | undefined,
  attempt: number,
  error: unknown,
  random: () => number,
): number | undefined {
  if (policy === undefined || attempt >= policy.attempts) return undefined;
  if (policy.when !== undefined && !policy.when(error)) return undefined;
  const { delayMs = 200, factor = 2, maxDelayMs = 60_000, jitter = true } = policy;
  const full = Math.min(maxDelayMs, longestDelay, delayMs * factor ** (attempt - 1));
  return Math.ceil(jitter ? full * (0.5 + random() / 2) : full);
}

/**
 * Checks a duration; fractions are fine. Throws AuthoringError for NaN, infinity, and durations
 * below the minimum. `name`: duration and step in the error. `least`: `0` if the wait may be over
 * at once.
 */
export function checkedDuration(name: string, ms: number, least: 0 | 'more than 0'): number {
  if (Number.isFinite(ms) && (least === 0 ? ms >= 0 : ms > 0)) return ms;
  const bound = least === 0 ? 'that is 0 or more' : 'that is more than 0';
  throw new AuthoringError(
    `${name} is ${shown(ms)}. Give a finite number of milliseconds ${bound}.`,
  );
}

// A caller without types may pass any value, and a text could hold an answer.
function shown(ms: unknown): string {
  return typeof ms === 'number' ? String(ms) : `of type ${typeof ms}`;
}
