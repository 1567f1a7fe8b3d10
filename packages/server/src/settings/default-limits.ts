import { optionError } from '@mcp-saga/core/shared';
import { defaultLimits as sealLimits } from '@mcp-saga/seal';
import type { HostLimits } from '../model/host-limits.ts';

const mebibyte = 1024 * 1024;

/** Limits of a host that sets none. */
export const defaultHostLimits: HostLimits = {
  ...sealLimits,
  maxJournalEntries: 10_000,
  suggestedJournalEntries: 300,
  maxCommands: 100_000,
  maxArgumentBytes: sealLimits.maxTokenBytes,
  maxAnswers: 2_000,
  maxAnswerBytes: 4 * sealLimits.maxTokenBytes,
  maxKeptBytesPerSaga: 16 * mebibyte,
  maxKeptBytesPerPrincipal: 256 * mebibyte,
  clientRounds: 9,
  tokenTtlMs: 60 * 60 * 1000,
  maxLifetimeMs: 7 * 24 * 60 * 60 * 1000,
  turnBudgetMs: 25_000,
  maxHoldMs: 20_000,
  hookTimeoutMs: 10_000,
};

/** Completes the limits. Throws RangeError for an invalid limit. */
export function resolveHostLimits(limits: Partial<HostLimits> = {}): HostLimits {
  const { maxTokenBytes = defaultHostLimits.maxTokenBytes } = limits;
  const resolved: Record<string, number> = {
    ...defaultHostLimits,
    maxArgumentBytes: maxTokenBytes,
    maxAnswerBytes: 4 * maxTokenBytes,
  };
  for (const [name, value] of Object.entries(limits)) {
    // `undefined` must not remove a limit.
    if (value === undefined) continue;
    resolved[name] = checked(name, value);
  }
  return resolved as unknown as HostLimits;
}

function checked(name: string, value: number): number {
  const path = `limits.${name}`;
  // Tokens contain whole milliseconds.
  if (name === 'tokenTtlMs' || name === 'maxLifetimeMs') return wholeDuration(path, value);
  if (name === 'maxHoldMs' && value === 0) return 0;
  if (name.endsWith('Ms')) return duration(path, value);
  return wholeNumber(path, value);
}

/** Checks a count of a host option. Throws RangeError. */
export function wholeNumber(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw optionError(`${name} must be a positive whole number.`, { type: RangeError });
  return value;
}

// Added to the current time, a longer duration would exceed a Date.
const century = 100 * 365 * 24 * 60 * 60 * 1000;

/** Checks a duration for a token, and rounds it up to whole milliseconds. Throws RangeError. */
export function wholeDuration(name: string, ms: number): number {
  const whole = Math.ceil(duration(name, ms));
  if (!Number.isFinite(whole))
    throw optionError(`${name} must be a whole number of milliseconds.`, { type: RangeError });
  if (whole > century)
    throw optionError(`${name} must be at most 100 years: ${century} milliseconds.`, {
      type: RangeError,
    });
  return whole;
}

/** Checks a duration of a host option, in milliseconds. Throws RangeError. */
export function duration(name: string, ms: number): number {
  if (typeof ms !== 'number' || !(ms > 0))
    throw optionError(`${name} must be a positive number of milliseconds.`, { type: RangeError });
  return ms;
}
