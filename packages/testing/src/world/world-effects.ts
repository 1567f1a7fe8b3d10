import { toUuid } from '@mcp-saga/server';
import type { Runtime } from '@mcp-saga/server/internal';

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

/**
 * Names the calls of code by their turn, ID, and number in the turn. A call that a repeated request
 * makes again gets the same name. Two attempts of a step get two.
 */
export class CallNames {
  #turn = 0;
  readonly #called = new Map<string, number>();

  /** Follows the turns of a runtime, which may commit several in one request. */
  follow(turn: Runtime['turn'], committed: () => void): Runtime['turn'] {
    const { commit } = turn;
    this.#begin(turn.number);
    if (commit === undefined) return turn;
    return {
      ...turn,
      commit: async (point) => {
        const next = await commit(point);
        committed();
        if (next !== undefined) this.#begin(next.turn);
        return next;
      },
    };
  }

  /** Name of the call that begins now. */
  next(id: string): string {
    const nth = (this.#called.get(id) ?? 0) + 1;
    this.#called.set(id, nth);
    return `${id} ${this.#turn}.${nth}`;
  }

  #begin(turn: number): void {
    this.#turn = turn;
    this.#called.clear();
  }
}

/**
 * Effects of a run, by idempotency key: a provider that honors keys runs each effect once.
 */
export class EffectLedger {
  #runs = 0;
  readonly #effects = new Map<string, Effect>();
  /** Codes by their keys, and by the UUIDs of their keys, which some providers demand. */
  readonly #codes = new Map<string, { readonly id: string; running: number }>();
  readonly #newest = new Map<string, object>();

  /** All effects, in the order of their first run. */
  get effects(): readonly Effect[] {
    return [...this.#effects.values()];
  }

  /** All effects by key, which is the same in each run of a script. */
  get byKey(): ReadonlyMap<string, Effect> {
    return this.#effects;
  }

  /** Number of runs of steps and undos that ended. */
  get runs(): number {
    return this.#runs;
  }

  /** Code that received a key, or the key of a UUID. Undefined if none did. */
  codeOf(key: string): { readonly id: string; readonly running: number } | undefined {
    return this.#codes.get(key);
  }

  /** `true` for the newest key of a step. A saga that starts again has other keys. */
  isCurrent(key: string): boolean {
    const code = this.codeOf(key);
    return code !== undefined && this.#newest.get(code.id) === code;
  }

  /** Registers running code and its keys. Call the result at the end of the code. */
  begin(keys: readonly (readonly [key: string, id: string])[]): () => void {
    const codes = keys.map(([key, id]) => {
      const code = this.#codes.get(key) ?? { id, running: 0 };
      code.running += 1;
      if (!this.#codes.has(key)) this.#codes.set(key, code).set(toUuid(key), code);
      this.#newest.set(code.id, code);
      return code;
    });
    return () => {
      for (const code of codes) code.running -= 1;
    };
  }

  /** Registers code that ended. */
  note(facts: Omit<Effect, 'runs' | 'turns'>, turn: number): void {
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
