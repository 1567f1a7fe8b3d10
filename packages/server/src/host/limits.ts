import { defaultLimits as sealLimits, type Limits as SealLimits } from '@mcp-saga/seal';

/** All bounds of a host, in one table. (T11) */
export interface HostLimits extends SealLimits {
  /** Entries in the journal of one saga. Default 10,000. */
  readonly maxJournalEntries: number;
  /**
   * Commands a body may yield in one turn, replayed ones included; or steps that a machine may take, of which delays that
   * passed while nobody called take one each. Default 100,000.
   */
  readonly maxCommands: number;
  /**
   * Bytes of the arguments of a call that starts a saga, as JSON. Larger arguments are refused, and meet no schema. Default
   * `maxTokenBytes`: the token carries them through the whole saga.
   */
  readonly maxArgumentBytes: number;
  /** Answers in one request, repeated ones included. Default 2,000. */
  readonly maxAnswers: number;
  /**
   * Bytes of one answer, as JSON. A larger one meets no schema and is asked again, with the reason. Default four times
   * `maxTokenBytes`, since answers are compressed.
   */
  readonly maxAnswerBytes: number;
  /**
   * Bytes of responses that a guard keeps of one saga at a time, as an estimate. A turn that comes with more is refused with
   * `guard_full` until some have expired; to cancel and to undo are never refused. Default 16 MiB.
   */
  readonly maxKeptBytesPerSaga: number;
  /**
   * Bytes that a guard keeps at a time for one principal, over all of its sagas. A turn beyond is refused with `guard_full`
   * until some have expired; to cancel and to undo are never refused. Callers without a principal are not counted. Default 256 MiB.
   */
  readonly maxKeptBytesPerPrincipal: number;
}

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
