/** @throws TypeError where a clock is none, such as one that has its time as a property */
export function assertClock(where: string, clock: unknown): void {
  if (typeof clock === 'function') return;
  throw new TypeError(
    `${where}: expected a function that gives milliseconds since the epoch, such as Date.now or () => clock.now.`,
  );
}
