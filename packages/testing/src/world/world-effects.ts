/** Effect of a step, by its idempotency key. */
export interface Effect {
  readonly id: string;
  readonly key: string;
  /** Path of the undone step, in an undo. */
  readonly undoes: string | undefined;
  /** Number of ended runs under this key. */
  runs: number;
  /**
   * `true` if the code read its idempotency key (an undo: the key of its step), by which a provider
   * recognizes repetitions.
   */
  took: boolean;
  /** `true` if a stand-in replaced the code. */
  readonly standIn: boolean;
  readonly turns: number[];
}

/** Effects of a run, by idempotency key. A provider that honors keys runs each effect once. */
export class EffectLedger {
  #runs = 0;
  readonly #effects = new Map<string, Effect>();
  readonly #codes = new Map<string, { readonly id: string; running: number }>();
  readonly #keys = new Map<string, string>();

  /** All effects, in the order of their first run. */
  get effects(): readonly Effect[] {
    return [...this.#effects.values()];
  }

  /** Number of runs of steps and undos that ended. */
  get runs(): number {
    return this.#runs;
  }

  /** Code that received a key. Undefined if none did. */
  codeOf(key: string): { readonly id: string; readonly running: number } | undefined {
    return this.#codes.get(key);
  }

  /** `true` for the newest key of a step. A saga that starts again has other keys. */
  isCurrent(key: string): boolean {
    const id = this.codeOf(key)?.id;
    return id !== undefined && this.#keys.get(id) === key;
  }

  /** Registers running code and its keys. Call the result at the end of the code. */
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

  /** Registers code that ended. */
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
