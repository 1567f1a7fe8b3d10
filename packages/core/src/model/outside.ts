import type { FormSchema } from '../values/form.ts';
import type { Json } from '../values/json.ts';

/** Question to people or systems that are not the client. */
export interface OutsideQuestion {
  readonly kind: 'approval' | 'event';
  /** Path of the approval or of the awaited event. */
  readonly path: string;
  /** Text above the form; empty for an event. */
  readonly message: string;
  readonly form: FormSchema;
  /** People who may answer, for the first delivery and for each escalation. `null`: any user. */
  readonly by: readonly Json[];
  /** `true` if the caller of the saga may answer. */
  readonly allowsCaller: boolean;
  /** `true` if possession of the link is enough. */
  readonly acceptsLink: boolean;
  /** Name of the check of a webhook. */
  readonly verify?: string;
  /** Number of times that people were asked, from the second on. */
  readonly round?: number;
}

/** Parts of a ticket that differ between the deliveries of a question. */
export interface TicketFacts {
  /** Index in `by` of the question. */
  readonly level: number;
  /** Number of the recipient: the same for equal recipients of several levels. */
  readonly recipient: number;
  /** Start of the wait, in milliseconds since the epoch. */
  readonly began: number;
  /** End of the time for answers, in milliseconds since the epoch. */
  readonly deadline: number;
  /** Bytes that the journal has room for, of each answer that counts. */
  readonly room: number;
  /** `true` if the wait sends reminders or escalates, which is late without a queue. */
  readonly needsQueue: boolean;
  /**
   * `true` if the delivery fails for good if it fails now. Before, it fails and is repeated while
   * the store is down.
   */
  readonly isLastAttempt: boolean;
}

/** Stored answer. The host has checked its seal and origin. */
export interface OutsideAnswer {
  /** User, as the host authenticated them, or `link` for any holder of the link. */
  readonly by: OutsideUser | 'link';
  /** Time of receipt, in milliseconds since the epoch. */
  readonly at: number;
  /** `false` for a denial. */
  readonly approved: boolean;
  readonly content: Json;
  /** Digest of the question as shown. */
  readonly shown: string;
  /** Number of the recipient of the ticket. */
  readonly recipient: number;
}

/**
 * Reason why a box accepts no more answers:
 *
 * - `decided`: the saga has the answers that it waited for, or the time is over
 * - `outdated`: people are asked again, and no answer in the box counts
 * - `withdrawn`: the saga does not wait any longer
 */
export type CloseReason = 'decided' | 'outdated' | 'withdrawn';

/** User who answers a question from outside. */
export interface OutsideUser {
  readonly issuer?: string;
  readonly subject: string;
}

/** Receipt of an answer: who gave it, when, and what was shown. */
export interface Receipt {
  /** User, as the host authenticated them, or `link` for the holder of the link. */
  readonly by: OutsideUser | 'link';
  /** Proof of identity: `user` for an authenticated user, `link` for possession of the link. */
  readonly level: 'user' | 'link';
  /** Time of the answer, in milliseconds since the epoch. */
  readonly at: number;
  /** Digest of the question as shown. */
  readonly shown: string;
}

/** Receipt of an answer that a saga recorded, with the path of its approval or event. */
export interface RecordedReceipt extends Receipt {
  readonly path: string;
  /** `false` for a denial. Undefined for an event. */
  readonly approved?: boolean;
}

/** Tickets and answers of a host. */
export interface RuntimeOutside {
  /** Returns the box of a question: a digest of the saga, the path, and the question. */
  box(question: OutsideQuestion): string | Promise<string>;
  /**
   * Returns a URL with a ticket. The same ticket has the same URL, so that retries repeat the same
   * request.
   */
  ticket(question: OutsideQuestion, facts: TicketFacts): string | Promise<string>;
  /**
   * Returns the answers of a box, one for each answerer, in the order in which they were stored.
   * Rejects if the store is down.
   */
  answers(box: string): Promise<readonly OutsideAnswer[]>;
  /**
   * Removes answers that {@link answers} returned and that never count, so that others find room.
   * Rejects if the store is down.
   */
  discard(box: string, answers: readonly OutsideAnswer[]): Promise<void>;
  /**
   * Refuses later answers. A later call may change the reason from `decided` to another. Rejects if
   * the store is down.
   */
  close(box: string, why: CloseReason): Promise<void>;
}
