/** A message from a saga to a person or another system, or a decision of the saga. */
export interface NewNote {
  /** Idempotency key: a repeated delivery has the same key. */
  readonly key: string;
  readonly purchase: string;
  readonly kind: 'link' | 'reminder' | 'webhook' | 'decision';
  /** Start of the wait, by the clock of the saga, in milliseconds since the epoch. */
  readonly began: number;
  /** Time of the first attempt, by the clock of its process, in milliseconds since the epoch. */
  readonly at: number;
  readonly to?: string;
  readonly url?: string;
  readonly result?: 'approved' | 'denied' | 'timeout';
  /** People whose answers counted. */
  readonly by?: readonly string[];
}

/** Note stored by the provider. */
export interface NoteRow extends NewNote {
  /** Sequence number, from 1, in order of arrival. */
  readonly id: number;
  readonly asked: number;
}
