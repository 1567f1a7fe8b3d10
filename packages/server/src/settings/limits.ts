import { defaultLimits as sealLimits } from '@mcp-saga/seal';
import type { HostLimits } from '../model/host-limits.ts';

const mebibyte = 1024 * 1024;

/** The bounds of a host that names none. */
export const defaultHostLimits: HostLimits = {
  ...sealLimits,
  maxJournalEntries: 10_000,
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

/** Fills in the defaults. Throws RangeError for a count below 1 or not whole, and a duration that is not positive. */
export function resolveHostLimits(limits: Partial<HostLimits> = {}): HostLimits {
  const { maxTokenBytes = defaultHostLimits.maxTokenBytes } = limits;
  const resolved: Record<string, number> = {
    ...defaultHostLimits,
    maxArgumentBytes: maxTokenBytes,
    maxAnswerBytes: 4 * maxTokenBytes,
  };
  for (const [name, value] of Object.entries(limits)) {
    // undefined must not take a limit away
    if (value === undefined) continue;
    resolved[name] = checked(name, value);
  }
  return resolved as unknown as HostLimits;
}

function checked(name: string, value: number): number {
  const path = `limits.${name}`;
  // Sealed into tokens, as whole milliseconds.
  if (name === 'tokenTtlMs' || name === 'maxLifetimeMs') return wholeDuration(path, value);
  if (name === 'maxHoldMs' && value === 0) return 0;
  if (name.endsWith('Ms')) return duration(path, value);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError(`${path} must be a whole number from 1.`);
  return value;
}

// Added to the current time, a longer duration would exceed a Date.
const century = 100 * 365 * 24 * 60 * 60 * 1000;

/** Checks a duration for a token, and rounds it up to whole milliseconds. Throws RangeError. */
export function wholeDuration(name: string, ms: number): number {
  const whole = Math.ceil(duration(name, ms));
  if (!Number.isFinite(whole)) throw new RangeError(`${name} must be a whole number of milliseconds.`);
  if (whole > century)
    throw new RangeError(`${name} must be 100 years at the most: ${century} milliseconds.`);
  return whole;
}

/** Checks a duration of a host option, in milliseconds. Throws RangeError. */
export function duration(name: string, ms: number): number {
  if (typeof ms !== 'number' || !(ms > 0))
    throw new RangeError(`${name} must be a number of milliseconds, more than 0.`);
  return ms;
}
