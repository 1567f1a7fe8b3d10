import type { Duration } from '@mcp-saga/core';
import { durationForms, durationOption, millisecondsOf, optionError } from '@mcp-saga/core/shared';
import type { HostLimits, ResolvedLimits } from '../model/host-limits.ts';

const mebibyte = 1024 * 1024;

/** Limits of a host that sets none. */
export const defaultHostLimits: Readonly<Record<keyof HostLimits, number>> = {
  maxTokenBytes: 64 * 1024,
  maxKeptBytes: 256 * mebibyte,
  tokenTtl: 60 * 60 * 1000,
  maxLifetime: 7 * 24 * 60 * 60 * 1000,
  turnBudget: 25_000,
  maxHold: 20_000,
  lease: 30_000,
  hookTimeout: 10_000,
};

/** Bytes of a token for each entry of a journal. Hardly any entry takes less. */
const entryBytes = 6;

/**
 * Commands of one turn for each entry of a journal. A replayed entry is a command, too, and a loop
 * without an end must not run for minutes.
 */
const commandsPerEntry = 10;

/** Completes the limits. Throws RangeError for an invalid limit. */
export function resolveHostLimits(limits: Partial<HostLimits> = {}): ResolvedLimits {
  const resolved: Record<keyof HostLimits, number> = { ...defaultHostLimits };
  for (const [name, value] of Object.entries(limits) as [
    keyof HostLimits,
    Duration | undefined,
  ][]) {
    // `undefined` must not remove a limit.
    if (value !== undefined) resolved[name] = checked(name, value);
  }
  const { maxTokenBytes, maxKeptBytes } = resolved;
  const maxJournalEntries = Math.floor(maxTokenBytes / entryBytes);
  return {
    ...resolved,
    maxJournalEntries,
    maxCommands: commandsPerEntry * maxJournalEntries,
    maxInflatedBytes: 16 * maxTokenBytes,
    maxAnswerBytes: 4 * maxTokenBytes,
    maxKeptBytesPerSaga: Math.min(maxKeptBytes, 16 * mebibyte),
  };
}

/** Limits that are times. */
const times = new Set(['tokenTtl', 'maxLifetime', 'turnBudget', 'maxHold', 'lease', 'hookTimeout']);

function checked(name: string, value: Duration): number {
  const path = `limits.${name}`;
  if (!times.has(name)) return wholeNumber(path, value);
  // Tokens contain whole milliseconds.
  if (name === 'tokenTtl' || name === 'maxLifetime' || name === 'lease')
    return wholeDuration(path, value);
  return (name === 'maxHold' ? delayOption : durationOption)(path, value);
}

/** Returns the milliseconds of a time that may be over at once, or never. Throws RangeError. */
export function delayOption(name: string, value: Duration): number {
  const ms = millisecondsOf(value);
  if (ms >= 0) return ms;
  throw optionError(`${name} must be 0 or more: ${durationForms}.`, { type: RangeError });
}

/** Checks a count of a host option. Throws RangeError. */
export function wholeNumber(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 1)
    throw optionError(`${name} must be a positive whole number.`, { type: RangeError });
  return value as number;
}

// Added to the current time, a longer duration would exceed a Date.
const century = 100 * 365 * 24 * 60 * 60 * 1000;

/** Checks a duration for a token, and rounds it up to whole milliseconds. Throws RangeError. */
export function wholeDuration(name: string, value: Duration): number {
  const whole = Math.ceil(durationOption(name, value));
  if (!Number.isFinite(whole)) throw optionError(`${name} must be finite.`, { type: RangeError });
  if (whole > century)
    throw optionError(`${name} must be at most 100 years.`, {
      type: RangeError,
    });
  return whole;
}
