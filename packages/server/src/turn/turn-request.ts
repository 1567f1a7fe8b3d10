import type { Program, ClientAnswer, Outcome, GoesOn, EndRequest } from '@mcp-saga/core';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { TurnSpan } from '../model/telemetry.ts';

/** What a turn runs on. */
export interface TurnRequest {
  readonly program: Pick<Program, 'advance'> & Partial<Program>;
  readonly saga: SealedSaga;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** When they came for the first time (ms since the epoch): the turn may be one that was begun and lost. Default: now. */
  readonly heardAt?: number | undefined;
  /** `true` if an earlier run of this turn began and never finished. (E9) */
  readonly isInterrupted?: boolean;
  readonly caller: Caller;
  /** Bytes of the token it was opened from; 0 at the start. */
  readonly tokenBytes: number;
  readonly traits: DialectTraits;
  /** Whether the token before this turn is used once: the turn then ends before it undoes, and at a pivot. */
  readonly isGuarded?: boolean;
  /** `true` if the token of this turn may be used again after a turn that changed nothing. */
  readonly mayStay?: boolean;
  /** Whether the host takes this turn by itself, behind the one that its request brought. */
  readonly isOwn?: boolean;
  /** Whether its client has gone, so that a queue takes the turn: nobody gets its token. */
  readonly isLeft?: boolean;
  /** `true` if the guard keeps the state, and the host continues from it by itself: no client gets its token. */
  readonly isForGuard?: boolean;
  /** Told before the saga goes on as another one. What it throws ends the turn. */
  readonly goesOnAs?: ((program: Program) => Promise<void>) | undefined;
  /**
   * Decides before the turn is kept whether the host continues by itself: a response that is kept without a reason to do so was
   * given to the client, and so is its token. Default: as the program says.
   */
  readonly goesOn?: ((outcome: Extract<Outcome, { status: 'suspended' }>) => GoesOn | undefined) | undefined;
  /** Ends the saga instead of going on with it; what it did is undone within this turn. */
  readonly end?: EndRequest;
  /** The turn in its trace, where it is traced. */
  readonly span?: TurnSpan;
}
