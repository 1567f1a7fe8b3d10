import { digestText, canonicalize } from '@mcp-saga/seal';

/** Time in which a key must not name two calls of a tool, in milliseconds. */
const watchedMs = 60 * 60 * 1000;

/** Most keys that are remembered: about 3 MB. */
const mostKeys = 10_000;

/** A key of a client, and the call that it names. */
export interface NamedCall {
  readonly principal: string | null;
  readonly from: string;
  readonly key: string;
  readonly tool: string;
  readonly argsDigest: string;
}

/**
 * Finds keys that are counters: a client that numbers its calls anew in each session sends an old
 * key with other arguments, and would get an old result once they are equal. Each process watches
 * the calls that it serves.
 */
export class KeyWatch {
  readonly #clock: () => number;
  /** The arguments of each key; undefined for a key that has named two calls. Oldest first. */
  readonly #calls = new Map<string, { readonly call: string | undefined; readonly at: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Notes a call. Returns `again` if its key has named another one within the last hour, and `now` if
   * this call is the first to show it.
   */
  async notes({ argsDigest: call, ...named }: NamedCall): Promise<'now' | 'again' | undefined> {
    const { principal, from, tool, key } = named;
    const name = await digestText(canonicalize([principal, from, tool, key]));
    const at = this.#clock();
    const known = this.#calls.get(name);
    const isKnown = known !== undefined && at < known.at + watchedMs;
    if (isKnown && known.call === undefined) return 'again';
    const isCounter = isKnown && known.call !== call;
    this.#calls.delete(name);
    this.#calls.set(name, { call: isCounter ? undefined : call, at });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > mostKeys && oldest !== undefined) this.#calls.delete(oldest);
    return isCounter ? 'now' : undefined;
  }
}
