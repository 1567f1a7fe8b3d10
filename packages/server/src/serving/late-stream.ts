/** A JSON-RPC message and the HTTP status of a response that holds only it. */
export interface Answer {
  readonly status: number;
  readonly message: object;
}

export interface LateStreamOptions {
  /** Signal of the request, not aborted yet: it is when its client disconnects. */
  readonly signal: AbortSignal;
  /** Milliseconds between two comments that keep an idle stream open; 0 for none. */
  readonly keepAliveMs: number;
}

/** As in the SDK, whose option `keepAliveMs` sets another interval. */
export const defaultKeepAliveMs = 15_000;

const longestTimer = 2 ** 31 - 1;

const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  Connection: 'keep-alive',
  'X-Accel-Buffering': 'no',
};

/**
 * Response to a request whose client wants notifications: one JSON body, as long as there are none,
 * and a stream of events from the first one on. Most calls with a progress token never report
 * progress, and cost what a call without one costs.
 */
export class LateStream {
  readonly #options: LateStreamOptions;
  readonly #leaving = new AbortController();
  readonly #begun: Promise<Response>;
  #begin: (response: Response) => void = () => undefined;
  #events: ReadableStreamDefaultController<Uint8Array> | undefined;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #isOver = false;
  readonly #onAbort = (): void => this.#leave(this.#options.signal.reason);

  constructor(options: LateStreamOptions) {
    this.#options = options;
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Aborted when the client disconnects, or cancels the stream. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Sends a notification. Nobody gets those that follow the response. */
  notify(notification: object): void {
    if (this.#isOver) return;
    if (this.#events === undefined) this.#open();
    this.#send(frameOf({ jsonrpc: '2.0', ...notification }));
  }

  /** Returns the stream as soon as it begins, or the response with the answer alone. */
  async respond(
    answer: Promise<Answer | undefined>,
    toResponse: (answer: Answer | undefined) => Response,
  ): Promise<Response> {
    const whole = answer.then((given) => {
      const isStream = this.#events !== undefined;
      if (isStream && given !== undefined) this.#send(frameOf(given.message));
      this.#close();
      return isStream ? this.#begun : toResponse(given);
    });
    return await Promise.race([this.#begun, whole]);
  }

  #open(): void {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#events = controller;
      },
      cancel: (reason) => this.#leave(reason),
    });
    const { keepAliveMs } = this.#options;
    if (Number.isFinite(keepAliveMs) && keepAliveMs >= 1) {
      const interval = Math.min(keepAliveMs, longestTimer);
      this.#keepAlive = setInterval(() => this.#send(': keepalive\n\n'), interval);
      // A stream alone must not keep a process alive. Only timers of Node have this method.
      (this.#keepAlive as { unref?: () => void }).unref?.();
    }
    this.#begin(new Response(body, { status: 200, headers: streamHeaders }));
  }

  #send(frame: string): void {
    if (this.#isOver) return;
    this.#events?.enqueue(new TextEncoder().encode(frame));
  }

  #leave(reason: unknown): void {
    this.#close();
    this.#leaving.abort(reason);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // A server may use the signal of a request again, or keep it for long.
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    clearInterval(this.#keepAlive);
    try {
      this.#events?.close();
    } catch {
      // The client has cancelled the stream.
    }
  }
}

function frameOf(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
