import type { Json } from '@mcp-saga/core';
import { canonicalize, digestText } from '@mcp-saga/seal';

/** Time in which a key must not name two calls of a tool, in milliseconds. */
const watchedMs = 60 * 60 * 1000;

/** Most keys that are remembered: about 3 MB. */
const mostKeys = 10_000;

/**
 * Finds keys that are counters: a client that numbers its calls anew in each session sends an old
 * key with other arguments, and would get an old result once they are equal. Each process watches
 * the calls that it serves, and tells its operator. The key counts on: the call that it has named
 * first may still be repeated.
 */
export class KeyWatch {
  readonly #clock: () => number;
  /** The arguments of each key; undefined for a key that has named two calls. Oldest first. */
  readonly #calls = new Map<string, { readonly call: string | undefined; readonly at: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Notes a call. Returns `true` if it is the first to show that its key names several.
   * @param named - the key, with all that tells it from the same key of others
   * @param call - digest of the arguments
   */
  async isNewCounter(named: Json, call: string): Promise<boolean> {
    const name = await digestText(canonicalize(named));
    const at = this.#clock();
    const before = this.#calls.get(name);
    const known = before !== undefined && at < before.at + watchedMs ? before : undefined;
    if (known !== undefined && known.call === undefined) return false;
    const isCounter = known !== undefined && known.call !== call;
    this.#calls.delete(name);
    this.#calls.set(name, { call: isCounter ? undefined : call, at });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > mostKeys && oldest !== undefined) this.#calls.delete(oldest);
    return isCounter;
  }
}
