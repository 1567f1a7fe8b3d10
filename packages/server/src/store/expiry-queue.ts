/** Entry of an `ExpiryQueue`, which writes `index`. */
export interface Expiring {
  readonly key: string;
  /** Milliseconds since the epoch. Change it only while the queue does not hold the entry. */
  dueAt: number;
  index: number;
}

/**
 * Entries by due time, as a binary heap: each operation visits at most the logarithm of all
 * entries.
 */
export class ExpiryQueue<T extends Expiring> {
  readonly #heap: T[] = [];

  /** Adds an entry. */
  add(entry: T): void {
    this.#place(entry, this.#heap.length);
  }

  /** Removes and returns the first due entry. Undefined if no entry is due by `now`. */
  takeDue(now: number): T | undefined {
    const [first] = this.#heap;
    if (first === undefined || first.dueAt > now) return undefined;
    this.remove(first);
    return first;
  }

  /** Removes an entry of the queue. */
  remove({ index }: T): void {
    const last = this.#heap.pop();
    if (last !== undefined && index < this.#heap.length) this.#place(last, index);
  }

  /** Moves an entry from a free place up or down to its place. */
  #place(entry: T, free: number): void {
    const heap = this.#heap;
    let hole = free;
    const move = (from: number, other: T): void => {
      heap[hole] = other;
      other.index = hole;
      hole = from;
    };
    for (;;) {
      const parent = (hole - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.dueAt <= entry.dueAt) break;
      move(parent, above);
    }
    for (;;) {
      const left = 2 * hole + 1;
      const isRight = (heap[left + 1]?.dueAt ?? Infinity) < (heap[left]?.dueAt ?? Infinity);
      const child = isRight ? left + 1 : left;
      const below = heap[child];
      if (below === undefined || below.dueAt >= entry.dueAt) break;
      move(child, below);
    }
    heap[hole] = entry;
    entry.index = hole;
  }
}
