/** Time of a machine. Lags behind real time while overdue delays fire, each at its due time. */
export class LaggingClock {
  readonly #now: () => number;
  #lag = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time of the machine, in milliseconds since the epoch. */
  now(): number {
    return this.#now() - this.#lag;
  }

  /** `true` if a time has passed in real time. */
  isPast(at: number): boolean {
    return at <= this.#now();
  }

  /** Sets the machine to a time in the past. */
  wakeAt(at: number): void {
    this.#lag = Math.max(0, this.#now() - at);
  }

  /** Moves the machine forward to a time in the past, never back. */
  forwardTo(at: number): void {
    if (at > this.now()) this.wakeAt(at);
  }

  /** Moves the machine to real time. */
  catchUp(): void {
    this.#lag = 0;
  }
}
