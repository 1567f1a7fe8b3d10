// As they are when the kit is loaded: a test may put fake timers in their place.
const { setImmediate: nextTick, setTimeout: realTimeout } = globalThis;

/** Waits until other timers and I/O had their turn. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => nextTick(resolve));
}

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

interface Stalled {
  readonly wake: () => void;
}

// How often code that does real work is looked after, and how long it may take before time goes on without it.
const lookAfterMs = 2;
const patienceMs = 2_000;

/** Clock of a run. Stands still while code of a step does real work, and jumps to the next timer when nothing else can run. */
export class VirtualClock {
  /** Called after time passed, with the milliseconds. */
  onPass: (ms: number) => void = () => undefined;

  #now: number;
  #timers: Timer[] = [];
  readonly #stalled: Stalled[] = [];
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

  /** Ends the first sleep at any time. Returns `false` if there is none. */
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
    return this.#wait(signal, (wake) => {
      const timer = { at: this.#now + ms, wake };
      this.#timers.push(timer);
      return () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      };
    });
  }

  /** Resolves when `signal` aborts, or when nothing is left that could abort it. */
  stall(signal: AbortSignal): Promise<void> {
    return this.#wait(signal, (wake) => {
      const stalled = { wake };
      this.#stalled.push(stalled);
      return () => {
        const index = this.#stalled.indexOf(stalled);
        if (index !== -1) this.#stalled.splice(index, 1);
      };
    });
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

  #wait(signal: AbortSignal | undefined, list: (wake: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const done = (): void => {
        unlist();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const unlist = list(done);
      signal?.addEventListener('abort', done, { once: true });
      this.#schedule();
    });
  }

  // After a macrotask every promise that can go on has gone on.
  #schedule(): void {
    if (this.#scheduled || this.#isManual) return;
    this.#scheduled = true;
    const look = (): void => {
      this.#scheduled = false;
      if (this.#timers.length === 0 && this.#stalled.length === 0) return;
      if (this.#working > 0 && this.#patience > 0) {
        this.#scheduled = true;
        this.#patience -= lookAfterMs;
        realTimeout(look, lookAfterMs);
        return;
      }
      this.#next();
      this.#schedule();
    };
    nextTick(look);
  }

  get #first(): Timer | undefined {
    let first = this.#timers[0];
    for (const timer of this.#timers) if (first !== undefined && timer.at < first.at) first = timer;
    return first;
  }

  #next(): void {
    const { due } = this;
    if (due === undefined) {
      this.#stalled[0]?.wake();
      return;
    }
    this.pass(due - this.#now);
    this.wake();
  }
}
