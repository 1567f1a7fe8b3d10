import type { LastReply } from '../model/messages.ts';

type Handle = (request: never, reply: (message: object) => void) => Promise<void>;

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
const reply = (message: object): void => globalThis.postMessage(message);
const end = (last: LastReply): void => reply(last);

/** Handles the requests of a page in its worker. The last reply to each has the type `done` or `failed`. */
export function serveRequests(handle: Handle): void {
  addEventListener('message', ({ data }: MessageEvent) => {
    void handle(data as never, reply)
      .then(() => end({ type: 'done' }))
      .catch((error: unknown) => end({ type: 'failed', message: String(error) }));
  });
}
