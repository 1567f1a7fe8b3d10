import type { Timer } from '../model/machine-view.ts';

type Pending = Timer & { readonly run: () => void };

/** Clock for XState that moves only by hand. */
export class MachineClock {
  readonly #describe: () => Omit<Timer, 'dueMs'>;
  #pending: readonly Pending[] = [];
  #nowMs = 0;

  /** `describe` names the delay that XState sets. */
  constructor(describe: () => Omit<Timer, 'dueMs'>) {
    this.#describe = describe;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Pending delays, the next first. */
  get timers(): readonly Timer[] {
    return this.#pending.map(({ machine, type, name, dueMs }) => ({ machine, type, name, dueMs }));
  }

  /** Returns the delay itself as its ID. */
  setTimeout = (run: () => void, delayMs: number): Pending => {
    const timer = { ...this.#describe(), run, dueMs: this.#nowMs + delayMs };
    this.#pending = [...this.#pending, timer].toSorted((one, other) => one.dueMs - other.dueMs);
    return timer;
  };

  clearTimeout = (timer: Pending): void => {
    this.#pending = this.#pending.filter((each) => each !== timer);
  };

  /** Moves the clock, and runs what is due, the earliest first. */
  skip(byMs: number): void {
    const end = this.#nowMs + byMs;
    for (let [next] = this.#pending; next !== undefined && next.dueMs <= end; [next] = this.#pending) {
      this.#nowMs = next.dueMs;
      this.clearTimeout(next);
      next.run();
    }
    this.#nowMs = end;
  }
}
