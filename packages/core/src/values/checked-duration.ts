import { AuthoringRangeError } from './errors.ts';
/**
 * Checks a duration. Fractions of a millisecond are fine: the engine rounds times up.
 *
 * @param name - the duration and its step, as the error names them
 * @param least - `0` for a wait that may be over at once
 * @returns the duration, unchanged
 * @throws RangeError for NaN, infinite, or too small durations
 */
export function checkedDuration(name: string, ms: number, least: 0 | 'more than 0'): number {
  if (Number.isFinite(ms) && (least === 0 ? ms >= 0 : ms > 0)) return ms;
  const bound = least === 0 ? 'that is 0 or more' : 'that is more than 0';
  throw new AuthoringRangeError(`${name} is ${shown(ms)}. Give a finite number of milliseconds ${bound}.`);
}

// A caller without types may give anything, and a text could hold an answer.
function shown(ms: unknown): string {
  return typeof ms === 'number' ? String(ms) : `a ${typeof ms}`;
}
