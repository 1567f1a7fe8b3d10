/** Whether a value is an object with string keys, as JSON has them. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy as the wire will have it: what is kept is what is sent, and nothing can change it in between.
 *
 * @throws TypeError when JSON cannot hold it
 */
export function copyJson<T>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value));
  return copy;
}
