import { durationForms, millisecondsOf, type Duration } from './duration.ts';
import { AuthoringError } from './errors.ts';

/**
 * Returns the milliseconds of a duration; fractions are fine. Throws AuthoringError for infinity,
 * for durations below the minimum, and for other values. `name`: duration and step in the error.
 * `least`: `0` if the wait may be over at once.
 */
export function checkedDuration(name: string, value: Duration, least: 0 | 'more than 0'): number {
  const ms = millisecondsOf(value);
  if (Number.isFinite(ms) && (least === 0 ? ms >= 0 : ms > 0)) return ms;
  const bound = least === 0 ? '0 or more' : 'more than 0';
  throw new AuthoringError(
    `${name} is ${shown(value)}. Give ${durationForms}, which is finite, and ${bound}.`,
  );
}

// A caller without types may pass any value, and a text could hold an answer.
function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}
