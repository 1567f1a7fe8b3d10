/** Whether a value is an object with string keys, as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Copies a value as JSON, so that the sent value cannot change. Throws TypeError for a value that JSON cannot hold. */
export function copyJson<T>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value));
  return copy;
}
