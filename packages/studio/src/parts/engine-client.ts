import type { Failed, LastReply } from '../model/messages.ts';

/** Worker of a page, or a process that acts as one. */
export type EngineWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/** Module whose default starts a worker, without a request. */
export type Engine = Promise<{ readonly default: new () => EngineWorker }>;

/**
 * Runs requests in a worker, one at a time. A newer request, or code without a reply in time,
 * terminates the worker. A start has a minute.
 */
export class EngineClient<Request, Reply extends { readonly type: string }> {
  readonly #engine: Engine;
  readonly #timeoutMs: number;
  #worker: EngineWorker | undefined;
  #abandon: (() => void) | undefined;

  constructor(engine: Engine, timeoutMs: number) {
    this.#engine = engine;
    this.#timeoutMs = timeoutMs;
  }

  /** Ends the current request, which never resolves. */
  stop(): void {
    this.#abandon?.();
  }

  /** Resolves with the result; undefined after a failure. A replaced request never resolves. */
  async ask(request: Request, onReply: (reply: Reply | Failed) => void): Promise<unknown> {
    const engine = await this.#engine.catch(() => undefined);
    if (engine === undefined)
      return onReply({ type: 'failed', message: 'The engine did not load.' });
    this.#abandon?.();
    const worker = (this.#worker ??= new engine.default());
    return await new Promise<unknown>((resolve) => {
      const kill = (): void => {
        clearTimeout(timer);
        this.#abandon = undefined;
        worker.terminate();
        this.#worker = undefined;
      };
      const late = `The code did not end within ${this.#timeoutMs / 1000} s, and was stopped.`;
      const giveUp = (message: string = late): void => {
        kill();
        onReply({ type: 'failed', message });
        resolve(undefined);
      };
      let timer = setTimeout(giveUp, 60_000, 'The engine did not start within 60 s.');
      this.#abandon = kill;
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- replaces the listener of the request before
      worker.onmessage = ({ data }: MessageEvent<Reply | LastReply>) => {
        clearTimeout(timer);
        if (data.type === 'done' || data.type === 'failed') this.#abandon = undefined;
        if (data.type === 'done') return resolve((data as { readonly result?: unknown }).result);
        if (data.type !== 'started') onReply(data as Reply | Failed);
        if (data.type === 'failed') return resolve(undefined);
        timer = setTimeout(giveUp, this.#timeoutMs);
      };
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the same
      worker.onerror = ({ message = 'The worker did not start.' }: Partial<ErrorEvent>) =>
        giveUp(message);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
      worker.postMessage(request);
    });
  }
}
