import { optionError } from '@mcp-saga/core/shared';
import type { QueueConsumer, QueueMessage } from '@mcp-saga/server/stores';
import { QueueError } from './errors.ts';

/** Required method of a receiving host. */
export type Receiver = Pick<QueueConsumer, 'deliver'>;

/**
 * Formats a message as JSON. Throws QueueError `queue_message_too_large` over the limit of the
 * service.
 */
export function toBody(value: object, maxBytes: number, service: string): string {
  const body = JSON.stringify(value);
  const { length } = new TextEncoder().encode(body);
  if (length <= maxBytes) return body;
  throw new QueueError(
    'queue_message_too_large',
    `The message has ${length} bytes, and ${service} stores at most ${maxBytes}. Lower limits.maxTokenBytes of the host.`,
  );
}

/** Reads a message and other members from JSON. Throws QueueError `queue_message_invalid`. */
export function fromBody(body: string): QueueMessage & { readonly at?: unknown } {
  const value = parse(body);
  const { sagaId, turn, token, at } = Object(value) as { readonly [name: string]: unknown };
  if (typeof sagaId === 'string' && Number.isSafeInteger(turn) && typeof token === 'string') {
    return { sagaId, turn: turn as number, token, at };
  }
  throw new QueueError(
    'queue_message_invalid',
    'The body is not a message from a host. Let only hosts send messages to the queue.',
  );
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Delivers a message. Throws QueueError with the code of the error alone, since some queues store
 * the error.
 */
export async function deliver(host: Receiver, message: QueueMessage): Promise<void> {
  await host.deliver(message).catch((error: unknown) => {
    const { code } = Object(error) as { readonly code?: unknown };
    const reason = typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'unknown error';
    throw new QueueError('queue_delivery_rejected', `The host rejected the message: ${reason}.`);
  });
}

/** @throws TypeError if an option is not text, or empty */
export function assertText(name: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw optionError(`${name}: expected a string.`);
}
