// Added to the current time, a longer duration would exceed a Date.
const century = 100 * 365 * 24 * 60 * 60 * 1000;

/**
 * Checks a duration for a token, and rounds it up to whole milliseconds.
 *
 * @throws RangeError
 */
export function wholeDuration(name: string, ms: number): number {
  const whole = Math.ceil(duration(name, ms));
  if (!Number.isFinite(whole)) throw new RangeError(`${name} must be a whole number of milliseconds.`);
  if (whole > century)
    throw new RangeError(`${name} must be 100 years at the most: ${century} milliseconds.`);
  return whole;
}

/**
 * Checks a duration of a host option, in milliseconds.
 *
 * @throws RangeError
 */
export function duration(name: string, ms: number): number {
  if (typeof ms !== 'number' || !(ms > 0))
    throw new RangeError(`${name} must be a number of milliseconds, more than 0.`);
  return ms;
}
