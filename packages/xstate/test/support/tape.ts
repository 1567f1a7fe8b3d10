/**
 * A strip of numbers that decides everything in a walk: fast-check draws and shrinks it. Past its
 * end it says 0.
 */
export class Tape {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** A number from 0 to `n - 1`. */
  pick(n: number): number {
    const number = this.#numbers[this.#at] ?? 0;
    this.#at += 1;
    return number % n;
  }

  /** True once in `n` times, and never past the end. */
  once(n: number): boolean {
    return this.pick(n) === n - 1;
  }

  /** One of several values, of which the first is the simplest. */
  of<T>(items: readonly T[]): T {
    return items[this.pick(items.length)] as T;
  }
}
