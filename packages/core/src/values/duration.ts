/**
 * Durations as developers write them: milliseconds, or a string with a unit. Commands, stored data,
 * and messages hold milliseconds, so that no fingerprint depends on how a duration was written.
 */
import { optionError } from './option-error.ts';

/**
 * A span of time: a number of milliseconds, or a string with a unit, such as `'500ms'`, `'30s'`,
 * `'1.5h'`, or `'2d'`.
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How to write a duration, for errors. */
export const durationForms: string =
  "a number of milliseconds, or a string with a unit, such as '30s', '1.5h', or '2d'";

/**
 * Returns the milliseconds of a string with a unit, for durations from a configuration.
 * @throws RangeError for a string without a unit (`ms`, `s`, `m`, `h`, or `d`), with a sign, or with
 * an exponent
 * @example
 * ```ts
 * const limits = { tokenTtl: duration(process.env.TOKEN_TTL ?? '1h') };
 * ```
 */
export function duration(text: string): number {
  const ms = typeof text === 'string' ? millisecondsOf(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw optionError(
      "duration() takes a string with a unit, such as '30s', '1.5h', or '2d'. The units are ms, s, m, h, and d.",
      { type: RangeError },
    );
  return ms;
}

/** Returns the milliseconds of a duration. NaN for any other value. */
export function millisecondsOf(value: unknown): number {
  if (typeof value === 'number') return value;
  const [, amount, unit] =
    typeof value === 'string' ? (/^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(value) ?? []) : [];
  return Number(amount) * units[unit as keyof typeof units];
}

/** Returns the milliseconds of an option, which may be infinite. Throws RangeError. */
export function durationOption(name: string, value: Duration): number {
  const ms = millisecondsOf(value);
  if (ms > 0) return ms;
  throw optionError(`${name} must be more than 0: ${durationForms}.`, { type: RangeError });
}
