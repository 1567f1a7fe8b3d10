import { optionError } from '../model/option-error.ts';
/** Limits of a token, when it is sealed and when it is opened. */
export interface Limits {
  /** Characters of a token, one byte each. @default 65_536 */
  readonly maxTokenBytes: number;
  /** Bytes of all streams before compression. @default 1_048_576 */
  readonly maxInflatedBytes: number;
  /** Streams of a token, at most 255. @default 16 */
  readonly maxStreams: number;
}

/** Default limits. */
export const defaultLimits: Limits = {
  maxTokenBytes: 64 * 1024,
  maxInflatedBytes: 1024 * 1024,
  maxStreams: 16,
};

/**
 * Completes limits. Throws RangeError unless each limit is a positive integer, with at most 255
 * streams.
 */
export function resolveLimits(limits: Partial<Limits> = {}): Limits {
  const resolved = {
    maxTokenBytes: limits.maxTokenBytes ?? defaultLimits.maxTokenBytes,
    maxInflatedBytes: limits.maxInflatedBytes ?? defaultLimits.maxInflatedBytes,
    maxStreams: limits.maxStreams ?? defaultLimits.maxStreams,
  };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw optionError(`${name} must be a positive integer`, { type: RangeError });
  }
  if (resolved.maxStreams > 255)
    throw optionError('maxStreams must be at most 255', { type: RangeError });
  return resolved;
}
