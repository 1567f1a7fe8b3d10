/**
 * Codes of the errors of this package:
 *
 * - `queue_message_too_large`: the message exceeds the limit of the service
 * - `queue_refused`: the service did not store the message
 * - `queue_message_invalid`: a received message is not from a host
 * - `queue_delivery_rejected`: the host rejected the message; deliver it again
 */
export type QueueErrorCode =
  | 'queue_message_too_large'
  | 'queue_refused'
  | 'queue_message_invalid'
  | 'queue_delivery_rejected';

/** Error of a queue. No message contains a token or a key. */
export class QueueError extends Error {
  readonly code: QueueErrorCode;

  constructor(code: QueueErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  override get name(): string {
    return 'QueueError';
  }
}
