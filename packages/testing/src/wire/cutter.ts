/** Cuts connections where a test says so. */
export class Cutter {
  readonly #steps = new Map<string, number>();
  readonly #requests = new Set<number>();
  readonly #open = new Set<() => void>();
  #sent = 0;

  /** Cuts once the step has run, or in place of the answer to the request of that number. */
  plan(after: string | number, times: number): void {
    if (typeof after === 'number') this.#requests.add(after);
    else this.#steps.set(after, (this.#steps.get(after) ?? 0) + times);
  }

  /** A request is sent. Says whether its answer is to be lost. */
  sending(): boolean {
    this.#sent += 1;
    return this.#requests.has(this.#sent);
  }

  /** A connection is open until what this returns is called. */
  opened(cut: () => void): () => void {
    this.#open.add(cut);
    return () => void this.#open.delete(cut);
  }

  /** A step has run. Says whether the connections were cut. */
  ran(id: string): boolean {
    const left = this.#steps.get(id) ?? 0;
    if (left <= 0) return false;
    this.#steps.set(id, left - 1);
    // What is cut is not open any more.
    const open = Array.from(this.#open);
    for (const cut of open) cut();
    return true;
  }
}
