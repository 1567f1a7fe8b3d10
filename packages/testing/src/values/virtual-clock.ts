// Saved at import: a test may install fake timers.
const { setImmediate, setTimeout: realTimeout } = globalThis;

/** Runs a function after other timers and I/O. Browsers have no `setImmediate`. */
export const nextTick: (run: () => void) => void =
  setImmediate ??
  ((run) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => (port1.close(), run()));
    port1.start();
    port2.postMessage(undefined);
  });

/** Waits until other timers and I/O had their turn. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => nextTick(resolve));
}

interface Timer {
  /** Infinity: when nothing else can run. */
  readonly at: number;
  readonly wake: () => void;
}

// Poll interval for code with real work, and the time after which the clock continues without such
// code.
const lookAfterMs = 2;
const patienceMs = 2_000;

/**
 * Clock of a run. Stands still while code of a step does real work, and jumps to the next timer
 * when nothing else can run.
 */
export class VirtualClock {
  /** Called after time passed, with the milliseconds. */
  onPass: (ms: number) => void = () => undefined;
  #now: number;
  #timers: Timer[] = [];
  #working = 0;
  #scheduled = false;
  #patience = patienceMs;
  readonly #isManual: boolean;

  /** `start`: ms since the epoch. `isManual`: time passes only by `pass` and `wake`. */
  constructor(start: number, isManual: boolean = false) {
    this.#now = start;
    this.#isManual = isManual;
  }

  /** Time at which the first sleep ends, in milliseconds since the epoch. */
  get due(): number | undefined {
    return this.#first?.at;
  }

  /** Ends the first sleep at any time. Returns `false` if nothing sleeps. */
  wake(): boolean {
    const first = this.#first;
    first?.wake();
    return first !== undefined;
  }

  now(): number {
    return this.#now;
  }

  /** Sets the time: a repeated request finds the time of the first one. */
  reset(to: number): void {
    this.#now = to;
  }

  pass(ms: number): void {
    if (ms <= 0) return;
    this.#now += ms;
    this.onPass(ms);
  }

  /** Resolves at the end of the time, or when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const wake = (): void => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = { at: this.#now + ms, wake };
      this.#timers.push(timer);
      signal?.addEventListener('abort', wake, { once: true });
      this.#schedule();
    });
  }

  /** Resolves when `signal` aborts, or when nothing else can run. */
  stall(signal: AbortSignal): Promise<void> {
    return this.sleep(Number.POSITIVE_INFINITY, signal);
  }

  /** Stops time until code of the author ends. */
  async during<T>(work: PromiseLike<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work;
    } finally {
      this.#working -= 1;
      this.#patience = patienceMs;
    }
  }

  /** Sleeps in code of the author, while time passes. */
  async sleepInWork(ms: number, signal: AbortSignal): Promise<void> {
    this.#working -= 1;
    try {
      await this.sleep(ms, signal);
    } finally {
      this.#working += 1;
    }
    signal.throwIfAborted();
  }

  // After a macrotask, all settled promises have continued.
  #schedule(): void {
    if (this.#scheduled || this.#isManual) return;
    this.#scheduled = true;
    const look = (): void => {
      this.#scheduled = false;
      if (this.#timers.length === 0) return;
      if (this.#working > 0 && this.#patience > 0) {
        this.#scheduled = true;
        this.#patience -= lookAfterMs;
        realTimeout(look, lookAfterMs);
        return;
      }
      const { due = this.#now } = this;
      if (due < Number.POSITIVE_INFINITY) this.pass(due - this.#now);
      this.wake();
      this.#schedule();
    };
    nextTick(look);
  }

  get #first(): Timer | undefined {
    let first = this.#timers[0];
    for (const timer of this.#timers) if (first !== undefined && timer.at < first.at) first = timer;
    return first;
  }
}
