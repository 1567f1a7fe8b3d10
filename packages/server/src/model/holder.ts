import type { Program } from '@mcp-saga/core';
import type { SuspendedTurn } from './turn.ts';

/** Who holds a saga after a turn, and takes the next one. */
export type Holder =
  /** The client: it gets a token with each turn, and comes back with it. */
  | ({ readonly kind: 'client' } & GetsCommits)
  /** The open request, which goes on without another round of the client. */
  | ({ readonly kind: 'request' } & GetsCommits)
  /** The record of a task. A turn ends after each step, so that the record knows of it. */
  | {
      readonly kind: 'store';
      /** Called before the saga continues as another saga. A thrown error ends the turn. */
      readonly beforeContinueAs: (program: Program) => Promise<void>;
    }
  /** The message of a queue, in the place of an absent client. */
  | { readonly kind: 'queue' }
  /** Nobody: the saga is abandoned. Its queue ends it, and no client gets a token. */
  | { readonly kind: 'nobody' };

interface GetsCommits {
  /**
   * Gives a client the turn that is committed after each step, before the next turn does anything.
   * Default: only a guard keeps committed turns.
   */
  readonly onCommit?: (turn: SuspendedTurn) => Promise<void>;
}

/** `true` for a turn without a request of the client, which is no round of its call. */
export function isOwnTurn({ kind }: Holder): boolean {
  return kind === 'request' || kind === 'queue';
}

/** Holder of the turn after a commit: the run that committed goes on. */
export function holderAfterCommit(holder: Holder): Holder {
  return holder.kind === 'client' ? { ...holder, kind: 'request' } : holder;
}

/** Function that gets the committed turns. Undefined if only a guard keeps them. */
export function onCommitOf(holder: Holder): GetsCommits['onCommit'] {
  return holder.kind === 'client' || holder.kind === 'request' ? holder.onCommit : undefined;
}
