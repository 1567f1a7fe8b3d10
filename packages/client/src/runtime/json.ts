/** Returns `true` for an object other than an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Copies a value as JSON, so that the sent value cannot change. Throws TypeError for a value
 * outside of JSON.
 */
export function copyJson<T>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value));
  return copy;
}
