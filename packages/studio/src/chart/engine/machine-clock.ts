import type { Timer } from '../model/machine-view.ts';

interface Pending extends Timer {
  readonly id: number;
  readonly run: () => void;
}

/** Clock for XState that moves only by hand. */
export class MachineClock {
  readonly #describe: () => Omit<Timer, 'dueMs'>;
  #pending: readonly Pending[] = [];
  #nowMs = 0;
  #lastId = 0;

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

  setTimeout = (run: (...args: never[]) => void, delayMs: number): number => {
    const id = (this.#lastId += 1);
    const timer = { ...this.#describe(), id, run, dueMs: this.#nowMs + delayMs };
    this.#pending = [...this.#pending, timer].toSorted((one, other) => one.dueMs - other.dueMs);
    return id;
  };

  clearTimeout = (id: number): void => {
    this.#pending = this.#pending.filter((timer) => timer.id !== id);
  };

  /** Moves the clock, and runs what is due, the earliest first. */
  skip(byMs: number): void {
    const end = this.#nowMs + byMs;
    for (let [next] = this.#pending; next !== undefined && next.dueMs <= end; [next] = this.#pending) {
      this.#nowMs = next.dueMs;
      this.clearTimeout(next.id);
      next.run();
    }
    this.#nowMs = end;
  }
}
