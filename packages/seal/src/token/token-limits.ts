/** What a token may grow to. The same limits hold when one is minted and when one is opened. */
export interface Limits {
  /** Characters (each one byte) of a token. Default 65,536. */
  readonly maxTokenBytes: number;
  /** Bytes of all streams together, as given to `seal`; bounds what a small token can inflate to. Default 1,048,576. */
  readonly maxInflatedBytes: number;
  /** Streams in a token; at most 255, the layout's own bound. Default 16. */
  readonly maxStreams: number;
}

/** The one table of limits. */
export const defaultLimits: Limits = {
  maxTokenBytes: 64 * 1024,
  maxInflatedBytes: 1024 * 1024,
  maxStreams: 16,
};

/** Fills in the defaults. Throws RangeError for a limit that is not a positive integer, or more than 255 streams. */
export function resolveLimits(limits: Partial<Limits> = {}): Limits {
  const resolved = {
    maxTokenBytes: limits.maxTokenBytes ?? defaultLimits.maxTokenBytes,
    maxInflatedBytes: limits.maxInflatedBytes ?? defaultLimits.maxInflatedBytes,
    maxStreams: limits.maxStreams ?? defaultLimits.maxStreams,
  };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${name} must be a positive integer`);
  }
  if (resolved.maxStreams > 255) throw new RangeError('maxStreams must be at most 255');
  return resolved;
}
