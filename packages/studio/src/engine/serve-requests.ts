import type { LastReply, Reply } from '../model/messages.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
const reply = (message: object): void => globalThis.postMessage(message);

export function serveRequests(
  handle: (request: never, report: typeof reply) => Promise<unknown>,
): void {
  addEventListener('message', ({ data }: MessageEvent) => {
    reply({ type: 'started' } satisfies Reply);
    void handle(data as never, reply)
      .then((result) => reply({ type: 'done', result } satisfies LastReply))
      .catch((error: unknown) =>
        reply({ type: 'failed', message: String(error) } satisfies LastReply),
      );
  });
}
