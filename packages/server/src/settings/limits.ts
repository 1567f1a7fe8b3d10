import { defaultLimits as sealLimits } from '@mcp-saga/seal';
import type { HostLimits } from '../model/host-options.ts';

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
};

/** Fills in the defaults. Throws a `RangeError` for a limit that is not a whole number from 1. */
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
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`limits.${name} must be a whole number from 1.`);
    resolved[name] = value;
  }
  return resolved as unknown as HostLimits;
}
