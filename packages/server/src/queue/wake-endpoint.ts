import type { Awaitable } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import type { DeliveryResult, QueueMessage } from '../model/queue-types.ts';

/** Path at which `serveSagas` takes messages of a queue that sends them by HTTP. */
export const wakePath = '/saga/wake';

/** Largest message, in bytes. */
const maxWakeBytes = 4 * 1024 * 1024;

/** What the endpoint needs of a host. */
interface WakeTarget {
  /** Verifies a request of the queue. */
  readonly receive: (request: Request) => Awaitable<QueueMessage | undefined>;
  readonly deliver: (message: QueueMessage) => Promise<DeliveryResult>;
  readonly onError: (error: unknown) => void;
}

/**
 * Answers a request of a queue: 200 if the queue may drop the message, 401 without a valid
 * signature, 422 for a message that no host can open, and 503 for a message to deliver again.
 */
export async function answerWake(
  request: Request,
  { receive, deliver, onError }: WakeTarget,
): Promise<Response> {
  if (request.method !== 'POST')
    return new Response(null, { status: 405, headers: { allow: 'POST' } });
  if (Number(request.headers.get('content-length') ?? 0) > maxWakeBytes)
    return new Response(null, { status: 413 });
  try {
    const message = await receive(request);
    if (message === undefined)
      return new Response('The signature is missing or wrong.\n', { status: 401 });
    return Response.json(await deliver(message));
  } catch (error) {
    onError(error);
    if (error instanceof TokenRefused) return new Response(null, { status: 422 });
    return new Response(null, { status: 503, headers: { 'retry-after': '10' } });
  }
}
