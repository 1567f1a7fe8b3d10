import { durationForms, millisecondsOf, type Duration } from './duration.ts';
import { AuthoringError } from './errors.ts';

/**
 * Returns the milliseconds of a duration; fractions are fine. Throws AuthoringError for infinity,
 * for durations below the minimum, and for other values. `name`: duration and step in the error.
 * `least`: `0` if the wait may be over at once.
 */
export function checkedDuration(name: string, value: Duration, least: Least): number {
  const problem = problemOfDuration(value, least);
  if (problem !== undefined)
    throw new AuthoringError(`${name} ${problem}`, { anchor: 'durations' });
  return millisecondsOf(value);
}

type Least = 0 | 'more than 0';

/** The rest of a sentence about a wrong duration. Undefined for a finite one. */
export function problemOfDuration(value: Duration, least: Least): string | undefined {
  const ms = millisecondsOf(value);
  if (Number.isFinite(ms) && (least === 0 ? ms >= 0 : ms > 0)) return undefined;
  const bound = least === 0 ? '0 or more' : 'more than 0';
  return `is ${shown(value)}. Use ${durationForms}. It must be finite, and ${bound}.`;
}

// A caller without types may pass any value, and a string could hold an answer.
function shown(value: unknown): string {
  if (typeof value === 'string') return 'not a duration';
  return typeof value === 'number' ? String(value) : `of type ${typeof value}`;
}
