import type { EngineWorker } from '../parts/engine-client.ts';

/** Engine in the process of `mcp-saga dev`, used as a worker. */
export class RemoteEngine implements EngineWorker {
  onmessage: EngineWorker['onmessage'] = null;
  onerror: EngineWorker['onerror'] = null;
  readonly #id = crypto.randomUUID();
  readonly #end = new AbortController();

  postMessage(request: unknown): void {
    void this.#ask(request).catch((error: unknown) => {
      // `fetch` and the stream of its response throw a TypeError.
      const message =
        error instanceof TypeError ? 'mcp-saga dev does not answer.' : 'The engine stopped.';
      if (!this.#end.signal.aborted) this.#call(this.onerror, { message });
    });
  }

  terminate(): void {
    this.#end.abort();
  }

  /** Each line of the response is a message. */
  async #ask(request: unknown): Promise<void> {
    const body = JSON.stringify(request);
    const { signal } = this.#end;
    let last: { readonly type?: string } = {};
    const response = await fetch(`engine?id=${this.#id}`, { method: 'POST', body, signal });
    const reader = (response.body as ReadableStream<BufferSource>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    let text = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = `${text}${read.value}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines)
        this.#call(this.onmessage, { data: (last = JSON.parse(line) as object) });
    }
    // The thread ended, or the server did not start it.
    if (last.type !== 'done' && last.type !== 'failed') throw new Error('The engine stopped.');
  }

  #call(listener: ((this: Worker, event: never) => unknown) | null, event: object): void {
    listener?.call(this as unknown as Worker, event as never);
  }
}
