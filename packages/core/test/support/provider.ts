/** A provider that honours idempotency keys, and the faults of the way to it. */
import { OutcomeUnknown } from '../../src/index.ts';
import { hash, type World } from './world.ts';

/** What a provider keeps of an effect. */
export interface LedgerEntry {
  readonly path: string;
  on: boolean;
}

/** What goes wrong with one call of a provider. */
export type Fault =
  /** It is refused, and nothing has happened. */
  | 'fails'
  /** The effect runs, and its response is dropped. */
  | 'is lost'
  /** The request dies before it, or after it. */
  | 'crashes before'
  | 'crashes after';

/** A call of the provider, as the step that makes it knows it. */
export interface Caller {
  readonly idempotencyKey: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** The world that sagas with undos act on. */
export class Ledger {
  /** Effects by the key they were made with. */
  readonly entries = new Map<string, LedgerEntry>();
  /** All calls in the order of their begin: key and attempt. */
  readonly calls: string[] = [];
  /** Keys of effects in the order they were done. */
  readonly done: string[] = [];
  /** Keys of undos that have happened. */
  readonly undone = new Set<string>();
  /** By how many pivots were passed: the keys of what had been done then. */
  readonly pivots: string[][] = [];
  /** Which call goes wrong, and how. */
  fault: (key: string, attempt: number, index: number) => Fault | undefined = () => undefined;
  /** Ends the request that is being served. */
  crash: () => void = () => undefined;

  readonly #world: World;
  readonly #options: { readonly duration: number; readonly gated: boolean };

  constructor(world: World, options: { readonly duration: number; readonly gated: boolean }) {
    this.#world = world;
    this.#options = options;
  }

  /** Does something: once for each key, however often it is asked. */
  async book(caller: Caller): Promise<{ readonly key: string }> {
    const key = caller.idempotencyKey;
    await this.#call(caller, () => {
      if (!this.entries.has(key)) this.entries.set(key, { path: pathOf(key), on: true });
    });
    this.done.push(key);
    return { key };
  }

  /** Undoes the effect of a key, if there is one. */
  async cancel(caller: Caller, key: string): Promise<void> {
    await this.#call(caller, () => {
      this.undone.add(caller.idempotencyKey);
      const entry = this.entries.get(key);
      if (entry !== undefined) entry.on = false;
    });
  }

  /** Does something that leaves nothing behind. */
  async note(caller: Caller): Promise<void> {
    await this.#call(caller, () => undefined);
  }

  /** The body has passed its nth pivot: earlier effects are never undone. */
  pivot(number: number): void {
    this.pivots[number] ??= [...this.entries.keys()];
  }

  async #call({ idempotencyKey, attempt, signal }: Caller, apply: () => void): Promise<void> {
    const index = this.calls.length;
    this.calls.push(`${idempotencyKey} ${attempt}`);
    this.#world.time += this.#options.duration;
    if (this.#options.gated) await this.#world.gate(signal);
    // The outcome of an aborted call is random.
    if (signal.aborted && hash(idempotencyKey) % 3 === 0) throw signal.reason;
    const fault = this.fault(idempotencyKey, attempt, index);
    if (fault === 'fails') throw Object.assign(new Error('refused'), { code: 'refused' });
    if (fault === 'crashes before') this.crash();
    if (fault === 'crashes before') throw new Error('the connection is gone');
    apply();
    if (fault === 'is lost') throw new OutcomeUnknown('no response');
    if (fault === 'crashes after') this.crash();
  }
}

/** The path of the step that a key of a test's runtime belongs to. */
export function pathOf(key: string): string {
  return (key.split('|', 1)[0] as string).replace(/^\w+:/, '');
}
