/**
 * A walk that does more than a walk needs. Fuel burns in each machine alone: a chart of children of
 * children may do a thousand times as much as another, and more than a journal holds.
 */
export class WalkTooLong extends Error {}

/** What actions may do in one walk. */
const longest = 5_000;

/**
 * What the machines of a walk do and wait for. Nothing runs before the walk says so, and time
 * stands still.
 */
export class WalkWorld {
  time = 1_000;
  /** What actions did, in order. */
  readonly trace: string[] = [];
  /** What effects did, in order. */
  readonly effects: string[] = [];
  readonly #gates: { readonly label: string; readonly open: () => void }[] = [];

  /**
   * Resolves when its turn comes: of those that wait, the first by its label. Never, when `signal`
   * aborts before.
   */
  gate(label: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const gate = { label, open: resolve };
      this.#gates.push(gate);
      signal?.addEventListener('abort', () => {
        const index = this.#gates.indexOf(gate);
        if (index !== -1) this.#gates.splice(index, 1);
      });
    });
  }

  /** After a macrotask, every promise that can continue has continued. */
  async breathe(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /**
   * Lets everything run until nothing runs any more: one gate at a time.
   *
   * @throws WalkTooLong
   */
  async flush(): Promise<void> {
    for (;;) {
      await this.breathe();
      if (this.trace.length > longest) throw new WalkTooLong();
      const [next] = this.#gates.toSorted((one, other) => (one.label < other.label ? -1 : 1));
      if (next === undefined) return;
      this.#gates.splice(this.#gates.indexOf(next), 1);
      next.open();
    }
  }
}
