import { rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { QueueMessage, SagaQueue } from '@mcp-saga/server/stores';
import { QueueError } from './errors.ts';
import { assertText, deliver, fromBody, toBody, type Receiver } from './queue-message.ts';
import { digestOf, verifySignature } from './qstash-signature.ts';

/** Options of {@link qstashQueue}. */
export interface QstashQueueOptions {
  /** Token of QStash (`QSTASH_TOKEN`). */
  readonly token: string;
  /** Key that signs the requests of QStash (`QSTASH_CURRENT_SIGNING_KEY`). */
  readonly currentSigningKey: string;
  /** Key that signs the requests of QStash after the next rotation (`QSTASH_NEXT_SIGNING_KEY`). */
  readonly nextSigningKey: string;
  /** Public destination of messages, such as `https://shop.example/saga/wake`. */
  readonly url: string;
  /** URL of the QStash API (`QSTASH_URL`). @default 'https://qstash.upstash.io' */
  readonly baseUrl?: string;
  /** Sends requests to QStash. @default fetch */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Returns the time, in milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
}

/** Queue of {@link qstashQueue}. */
export interface QstashQueue extends SagaQueue {
  remove(sagaId: string): Promise<void>;
  /**
   * Verifies the signature of a request, and reads its message. Returns undefined if the signature
   * is missing or wrong.
   * @throws QueueError `queue_message_invalid` if a signed body is not a message
   */
  receive(request: Request): Promise<QueueMessage | undefined>;
}

const optionNames: NamesOf<QstashQueueOptions> = {
  token: true,
  currentSigningKey: true,
  nextSigningKey: true,
  url: true,
  baseUrl: true,
  fetch: true,
  clock: true,
};
const texts = ['token', 'currentSigningKey', 'nextSigningKey', 'url'] as const;
/** Limit of QStash, in bytes. */
const maxBytes = 1_000_000;
/** Longest delay, in milliseconds. The limit of the free plan is 7 days. */
const maxDelayMs = 6 * 24 * 60 * 60 * 1_000;

/**
 * Creates a queue of QStash. QStash sends each message to `url` at its time, and repeats a rejected
 * message as often as the plan allows. Afterwards, the message goes to the dead letter queue of
 * QStash. A message for a later time arrives after six days, and the host sends it again.
 * @throws TypeError if an option is missing or invalid
 * @example
 * ```ts
 * const queue = qstashQueue({
 *   token: process.env['QSTASH_TOKEN'] ?? '',
 *   currentSigningKey: process.env['QSTASH_CURRENT_SIGNING_KEY'] ?? '',
 *   nextSigningKey: process.env['QSTASH_NEXT_SIGNING_KEY'] ?? '',
 *   url: 'https://shop.example/saga/wake',
 * });
 * ```
 */
export function qstashQueue(options: QstashQueueOptions): QstashQueue {
  rejectUnknownOption('qstashQueue', options, optionNames);
  for (const name of texts) assertText(`qstashQueue.${name}`, options[name]);
  const { token, currentSigningKey, nextSigningKey, url, clock = Date.now } = options;
  const { baseUrl = 'https://qstash.upstash.io', fetch: send = (request) => fetch(request) } =
    options;
  const keys = [currentSigningKey, nextSigningKey];
  const ask = async (
    method: string,
    path: string,
    headers: object,
    body: string | null,
  ): Promise<Response> =>
    await send(
      new Request(`${baseUrl}/v2/${path}`, {
        method,
        body,
        headers: { Authorization: `Bearer ${token}`, ...headers },
      }),
    );
  return {
    send: async (message, at) => {
      const body = toBody(message, maxBytes, 'QStash');
      const now = clock();
      const response = await ask(
        'POST',
        `publish/${url}`,
        {
          'Content-Type': 'application/json',
          // In whole seconds. Hosts send a message again that arrives before its time.
          ...(at > now
            ? { 'Upstash-Not-Before': String(Math.ceil(Math.min(at, now + maxDelayMs) / 1_000)) }
            : {}),
          // Not of the saga or the turn: the message of a turn can be sent again for another time.
          'Upstash-Deduplication-Id': await digestOf(`${at} ${body}`),
          'Upstash-Label': message.sagaId,
        },
        body,
      );
      if (!response.ok) throw await refusal(response);
    },
    remove: async (sagaId) => {
      const response = await ask(
        'DELETE',
        `messages?label=${encodeURIComponent(sagaId)}&count=100`,
        {},
        null,
      );
      if (!response.ok && response.status !== 404) throw await refusal(response);
    },
    receive: async (request) => {
      const signature = request.headers.get('Upstash-Signature');
      // Only QStash can make this process read a body.
      const digest = await verifySignature(signature, keys, { url, now: clock() });
      if (digest === undefined) return undefined;
      const body = await request.text();
      if ((await digestOf(body)) !== digest) return undefined;
      const { at: _, ...message } = fromBody(body);
      return message;
    },
  };
}

async function refusal(response: Response): Promise<QueueError> {
  const reason = (await response.text()).slice(0, 200);
  return new QueueError('queue_refused', `QStash answered ${response.status}: ${reason}`);
}

/**
 * Serves a request of QStash: verifies the signature, and passes the message to a host. Answers 401
 * for a wrong signature, 489 for an invalid message (QStash does not repeat 489), 503 for a
 * rejected message, and 204 otherwise.
 * @example
 * ```ts
 * declare const host: Receiver; // createSagaHost({ queue, … })
 * declare const queue: QstashQueue; // qstashQueue({ … })
 *
 * const wake = (request: Request) => receiveQstash(host, queue, request);
 * ```
 */
export async function receiveQstash(
  host: Receiver,
  queue: Pick<QstashQueue, 'receive'>,
  request: Request,
): Promise<Response> {
  try {
    const message = await queue.receive(request);
    if (message === undefined) return new Response(null, { status: 401 });
    await deliver(host, message);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    if (error.code === 'queue_delivery_rejected') return new Response(null, { status: 503 });
    return new Response(null, { status: 489, headers: { 'Upstash-NonRetryable-Error': 'true' } });
  }
}
