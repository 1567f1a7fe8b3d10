import type { DialectCapabilities } from './dialect-capabilities.ts';
import type { SuspendedTurn } from './turn.ts';

/** Who holds a saga after a turn, and takes the next one. */
export type Holder =
  | ClientHolder
  /** The open request, which goes on without another round of the client. */
  | ({ readonly kind: 'request' } & Pick<ClientHolder, 'isTask' | 'resumable'>)
  /** The record of a task. A turn ends after each step, so that the record knows of it. */
  | { readonly kind: 'store' }
  /** The message of a queue, in the place of an absent client. */
  | { readonly kind: 'queue' }
  /** Nobody: the saga is abandoned. Its queue ends it, and no client gets a token. */
  | { readonly kind: 'nobody' };

/** The client: it gets a token with each turn, and comes back with it. */
export interface ClientHolder {
  readonly kind: 'client';
  /**
   * How a client comes back that is asked nothing. Default: it cannot, because it gets the token of
   * no such turn.
   */
  readonly returns?: 'itself' | 'told';
  /**
   * Called when a repeated request finds its stored turn, and the token of that turn was used since.
   * Returns `true` if the saga has become a task: then only the task goes on. Default: it has not.
   */
  readonly isTask?: (turn: SuspendedTurn) => Promise<boolean>;
  readonly resumable?: ResumableRequest;
}

/** An open request that its client may resume. The token of each turn belongs to it. */
export interface ResumableRequest {
  /** JSON-RPC ID: `requests/resume` accepts the tokens with this ID only. */
  readonly id: string | number;
  /** Time at which the request began (ms since the epoch). */
  readonly beganAt: number;
  /** Abilities of the dialect in the turns behind the first, which may only look. */
  readonly dialect: DialectCapabilities;
  /** Gives the client the token of a turn or a commit, before the next turn begins. */
  readonly report: (turn: SuspendedTurn) => Promise<void>;
}

/** `true` for a turn without a request of the client, which is no round of its call. */
export function isOwnTurn({ kind }: Holder): boolean {
  return kind === 'request' || kind === 'queue';
}

/** `true` if a turn commits after each step, so that the holder knows of each. */
export function commitsEachStep(holder: Holder): boolean {
  return holder.kind === 'store' || resumableOf(holder) !== undefined;
}

/** Holder of the turn after a commit: the run that committed goes on. */
export function holderAfterCommit(holder: Holder): Holder {
  if (holder.kind !== 'client') return holder;
  const { returns: _, ...open } = holder;
  return { ...open, kind: 'request' };
}

/** Open request that the client of a saga may resume. Undefined: only a guard keeps commits. */
export function resumableOf(holder: Holder): ResumableRequest | undefined {
  return holder.kind === 'client' || holder.kind === 'request' ? holder.resumable : undefined;
}
