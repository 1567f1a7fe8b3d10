const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** Formats a duration with its two largest units: `1 h 30 min`. */
export function durationOf(ms: number): string {
  let left = Math.round(ms);
  const parts = units.flatMap(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.length === 0 ? `${left} ms` : parts.slice(0, 2).join(' ');
}
