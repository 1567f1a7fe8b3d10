/** Time as a machine sees it: overdue delays happen at their own times, so it lags behind until nothing is left to do. */
export class LaggingClock {
  readonly #now: () => number;
  #lag = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The machine's time, in milliseconds since the epoch. */
  now(): number {
    return this.#now() - this.#lag;
  }

  /** Whether a time has come, by the clock on the wall. */
  isPast(at: number): boolean {
    return at <= this.#now();
  }

  /** The machine wakes up at a time that has come. */
  wakeAt(at: number): void {
    this.#lag = Math.max(0, this.#now() - at);
  }

  /** On to a time that has come, and never back. */
  forwardTo(at: number): void {
    if (at > this.now()) this.wakeAt(at);
  }

  /** On to the time on the wall. */
  catchUp(): void {
    this.#lag = 0;
  }
}
