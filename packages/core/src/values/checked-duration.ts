import { bodyLog } from './body-log.ts';
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
  const advice = unitAdvice(name, value);
  if (advice !== undefined) bodyLog()?.advise(advice);
  return millisecondsOf(value);
}

/**
 * Advice for a short duration that has no unit: whoever writes `timeout: 30` most likely means
 * seconds. Undefined for others.
 * @param usual - the shortest duration in milliseconds that is likely meant. Default: a second
 */
export function unitAdvice(name: string, value: unknown, usual = 1_000): string | undefined {
  if (typeof value !== 'number' || value <= 0 || value >= usual) return undefined;
  return `${name} is ${value} milliseconds. Write '${value}s' for seconds, or '${value}ms'.`;
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
