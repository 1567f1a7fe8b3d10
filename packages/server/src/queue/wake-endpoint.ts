import type { Awaitable } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { boundedRequest } from './bounded-body.ts';
import type { DeliveryResult, QueueMessage } from '../model/queue-types.ts';

/** Path at which `serveSagas` takes messages of a queue that sends them by HTTP. */
export const wakePath = '/saga/wake';

/** What the endpoint needs of a host. */
interface WakeTarget {
  /** Verifies a request of the queue. */
  readonly receive: (request: Request) => Awaitable<QueueMessage | undefined>;
  readonly deliver: (message: QueueMessage) => Promise<DeliveryResult>;
  readonly onError: (error: unknown) => void;
  /** Largest token of the host, in bytes. */
  readonly maxTokenBytes: number;
}

/** Bytes of the largest message: a token, sealed again with facts about its client, in JSON. */
function maxMessageBytes(maxTokenBytes: number): number {
  return 2 * maxTokenBytes + 256 * 1024;
}

/**
 * Answers a request of a queue: 200 if the queue may drop the message, 401 without a valid
 * signature, 413 for a body that is longer than any message, 422 for a message that no host can open,
 * and 503 for a message to deliver again.
 */
export async function answerWake(
  request: Request,
  { receive, deliver, onError, maxTokenBytes }: WakeTarget,
): Promise<Response> {
  if (request.method !== 'POST')
    return new Response(null, { status: 405, headers: { allow: 'POST' } });
  // Anybody can send a request, and `receive` may read the whole body before it knows who did.
  const bounded = boundedRequest(request, maxMessageBytes(maxTokenBytes));
  if (bounded.isTooLong()) return new Response(null, { status: 413 });
  try {
    const message = await receive(bounded.request);
    if (bounded.isTooLong()) return new Response(null, { status: 413 });
    if (message === undefined)
      return new Response('The signature is missing or wrong.\n', { status: 401 });
    return Response.json(await deliver(message));
  } catch (error) {
    if (bounded.isTooLong()) return new Response(null, { status: 413 });
    onError(error);
    if (error instanceof TokenRefused) return new Response(null, { status: 422 });
    return new Response(null, { status: 503, headers: { 'retry-after': '10' } });
  }
}
