import type { Timer } from '../model/machine-view.ts';

type Pending = Timer & { readonly run: () => void };

/** Clock that moves only by hand. */
export class MachineClock {
  nowMs = 0;
  #pending: readonly Pending[] = [];

  get timers(): readonly Timer[] {
    return this.#pending.map(({ machine, type, name, dueMs }) => ({ machine, type, name, dueMs }));
  }

  /** Adds a timer, and returns it as its own ID. */
  add(timer: Pending): Pending {
    this.#pending = [...this.#pending, timer].toSorted((one, other) => one.dueMs - other.dueMs);
    return timer;
  }

  remove = (timer: unknown): void => {
    this.#pending = this.#pending.filter((each) => each !== timer);
  };

  /**
   * Moves the clock forward, runs what is due, the earliest first, and returns the time that
   * passed.
   */
  skip(toMs: number): number {
    const { nowMs } = this;
    for (
      let [next] = this.#pending;
      next !== undefined && next.dueMs <= toMs;
      [next] = this.#pending
    ) {
      this.nowMs = next.dueMs;
      this.remove(next);
      next.run();
    }
    this.nowMs = Math.max(nowMs, toMs);
    return this.nowMs - nowMs;
  }
}
