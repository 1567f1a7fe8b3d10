/** One effect: what a step did under one idempotency key. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  /** Of an undo: the path of what it undoes. */
  readonly undoes: string | undefined;
  /** How often the code ran to its end under this key. */
  runs: number;
  /** Whether the code that ran took its idempotency key, or an undo that of its step, so that a provider can know it again. */
  took: boolean;
  /** Whether the test stood in for the code. */
  readonly standIn: boolean;
  /** Turns in which it ran. */
  readonly turns: number[];
}

/** What the steps of a run did, by idempotency key: a provider that honours the keys did each of them once. */
export class EffectLedger {
  #runs = 0;
  readonly #effects = new Map<string, Effect>();
  readonly #codes = new Map<string, { readonly id: string; running: number }>();
  readonly #keys = new Map<string, string>();

  /** Every effect, in the order in which it was first done. */
  get effects(): readonly Effect[] {
    return [...this.#effects.values()];
  }

  /** How often code of steps and undos ran to its end. */
  get runs(): number {
    return this.#runs;
  }

  /** Code that was given an idempotency key. Undefined if no code was. */
  codeOf(key: string): { readonly id: string; readonly running: number } | undefined {
    return this.#codes.get(key);
  }

  /** `true` if a key is the last one that the step was given: a saga that was called anew has others. */
  isCurrent(key: string): boolean {
    const id = this.codeOf(key)?.id;
    return id !== undefined && this.#keys.get(id) === key;
  }

  /** Notes that code runs that was given keys. Call the result when it has ended. */
  begin(keys: readonly (readonly [key: string, id: string])[]): () => void {
    const codes = keys.map(([key, id]) => {
      const code = this.#codes.get(key) ?? { id, running: 0 };
      code.running += 1;
      this.#codes.set(key, code);
      this.#keys.set(code.id, key);
      return code;
    });
    return () => {
      for (const code of codes) code.running -= 1;
    };
  }

  /** Notes that code ran to its end. */
  note(facts: Pick<Effect, 'id' | 'key' | 'undoes' | 'took' | 'standIn'>, turn: number): void {
    this.#runs += 1;
    const known = this.#effects.get(facts.key);
    if (known === undefined) {
      this.#effects.set(facts.key, { ...facts, runs: 1, turns: [turn] });
      return;
    }
    known.runs += 1;
    known.took &&= facts.took;
    known.turns.push(turn);
  }
}
