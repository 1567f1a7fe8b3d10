import { hash, type World } from './world.ts';

/**
 * How a call at a ledger goes wrong: it fails before its effect, or its response is lost after it.
 */
export type Fault = 'fails' | 'lost';

/**
 * A provider that honours idempotency keys: an effect stands from when it is first done until it is
 * undone, and the same key a second time changes nothing.
 */
export class Ledger {
  /** The paths of the steps whose effects stand. */
  readonly standing = new Set<string>();
  /** The paths that stood at the last point of no return. */
  safe: ReadonlySet<string> = new Set();
  /** Every call, in order: `do:path` and `undo:~path`. */
  readonly calls: string[] = [];
  /** Paths of steps that can be undone, and those whose unknown outcome can be. */
  readonly undoable = new Set<string>();
  readonly faults: Map<string, Fault>;
  /** Called before and after each effect. */
  hook: ((when: 'before' | 'after') => void) | undefined;
  readonly #keys = new Set<string>();
  readonly #pivots = new Set<string>();
  readonly #world: World;
  readonly #duration: number;

  constructor(
    world: World,
    options: { readonly duration?: number; readonly faults?: Map<string, Fault> } = {},
  ) {
    this.#world = world;
    this.#duration = options.duration ?? 0;
    this.faults = options.faults ?? new Map<string, Fault>();
  }

  /** Does the effect of the step at `path`. */
  do(path: string, key: string): { readonly n: number; readonly at: Date } {
    this.#call(key, () => this.standing.add(path));
    return { n: hash(path) % 97, at: new Date(hash(path) % 1_000) };
  }

  /** Undoes it. */
  undo(path: string, key: string): void {
    this.#call(key, () => this.standing.delete(path));
  }

  /** What stands now is never undone. */
  pivot(key: string): void {
    this.calls.push(key);
    if (!this.#pivots.has(key)) this.safe = new Set(this.standing);
    this.#pivots.add(key);
  }

  #call(key: string, effect: () => void): void {
    this.hook?.('before');
    this.calls.push(key);
    this.#world.time += this.#duration;
    const fault = this.faults.get(key);
    if (fault === 'fails') throw new Error('refused');
    if (!this.#keys.has(key)) effect();
    this.#keys.add(key);
    this.hook?.('after');
    if (fault === 'lost') throw Object.assign(new Error('lost'), { code: 'outcome_unknown' });
  }
}
