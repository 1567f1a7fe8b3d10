import type { Program } from '@mcp-saga/core';
import type { ClientAnswer, EndRequest } from '@mcp-saga/core/program';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import type { SagaHostError } from '../wire/errors.ts';

/** What a turn runs on. */
export interface TurnRequest {
  readonly program: Pick<Program, 'advance'> & Partial<Program>;
  readonly saga: SealedSaga;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** Time at which they were received first (ms since the epoch), for a turn that an earlier request began. Default: now. */
  readonly receivedAt?: number | undefined;
  /** `true` if an earlier run of this turn began and never finished. (E9) */
  readonly isInterrupted?: boolean;
  readonly caller: Caller;
  /** Bytes of the token it was opened from; 0 at the start. */
  readonly tokenBytes: number;
  readonly traits: DialectTraits;
  /** `true` if the token before this turn is used once. */
  readonly isGuarded?: boolean;
  /** `true` if the token of this turn may be used again after a turn that changed nothing. */
  readonly mayStay?: boolean;
  /** `true` if no client came for this turn: it is no round of its own. */
  readonly isOwn?: boolean;
  /** Whether its client has gone, so that a queue takes the turn: nobody gets its token. */
  readonly isLeft?: boolean;
  /** Told before the saga goes on as another one. What it throws ends the turn. */
  readonly goesOnAs?: ((program: Program) => Promise<void>) | undefined;
  /** How a run treats committed turns: it continues, or leaves them to another run. Default: no turn is committed. */
  readonly commits?: 'continue' | 'hand over' | undefined;
  /** Called with each committed turn, before the next turn does anything. */
  readonly onCommit?: ((turn: SuspendedTurn) => Promise<void>) | undefined;
  /** The error that the client gets, whatever fails the saga. */
  readonly failsAs?: SagaHostError | undefined;
  /** `true` if the turn ends after a server step, for a client that gets a token after each. */
  readonly endsAfterStep?: boolean;
  /** Ends the saga instead of going on with it; what it did is undone within this turn. */
  readonly end?: EndRequest;
}
