/** Whether a value is the same JSON as another, whatever the order of keys. */
export function isSameJson(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null)
    return false;
  if (Array.isArray(value) !== Array.isArray(other)) return false;
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) &&
        isSameJson((value as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]),
    )
  );
}
