import type { LastReply } from '../model/messages.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
const reply = (message: object): void => globalThis.postMessage(message);

/** Handles the requests of a page in its worker. The last reply to each has the type `done` or `failed`. */
export function serveRequests(handle: (request: never, report: typeof reply) => Promise<void>): void {
  addEventListener('message', ({ data }: MessageEvent) => {
    void handle(data as never, reply)
      .then(() => reply({ type: 'done' } satisfies LastReply))
      .catch((error: unknown) => reply({ type: 'failed', message: String(error) } satisfies LastReply));
  });
}
