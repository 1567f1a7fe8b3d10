import type { Fetch } from './conformance-server.ts';

/** Head of a response, passed from the page to the bridge. */
export interface Head {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly hasBody: boolean;
}

/** One request to a server in a page, and its response, which the bridge reads. */
export class Exchange {
  readonly #fetch: Fetch;
  readonly #gone = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Sends the request. Drops headers that only a browser may set, such as `Host`. */
  async send(url: string, init: RequestInit, env: unknown): Promise<Head> {
    const request = new Request(url, { ...init, signal: this.#gone.signal });
    const { status, headers, body } = await this.#fetch(request, env);
    this.#reader = body?.getReader();
    return { status, headers: [...headers], hasBody: body !== null };
  }

  /** Reads the next part of the body; undefined at its end. */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return (await this.#reader?.read())?.value;
  }

  /** Aborts the request, and stops its response. */
  async abort(): Promise<void> {
    this.#gone.abort();
    await this.#reader?.cancel();
  }
}

declare global {
  /** Global of the page. */
  // oxlint-disable-next-line no-var -- a global
  var startExchange: () => Exchange;
}
