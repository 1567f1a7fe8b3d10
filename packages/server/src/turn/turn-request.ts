import type { Program, Services } from '@mcp-saga/core';
import type { ClientAnswer, EndRequest } from '@mcp-saga/core/program';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import type { SagaHostError } from '../wire/errors.ts';

/** Input of a turn. */
export interface TurnRequest {
  readonly program: Pick<Program, 'advance'> & Partial<Program>;
  readonly saga: SealedSaga;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /**
   * Time of receipt of the answers (ms since the epoch), for a turn that an earlier request began.
   * Default: now.
   */
  readonly receivedAt?: number | undefined;
  /** `true` if an earlier run of this turn was interrupted. */
  readonly isInterrupted?: boolean;
  readonly caller: Caller;
  readonly services: Services;
  /** Bytes of the opened token. 0 at the start. */
  readonly tokenBytes: number;
  readonly dialect: DialectCapabilities;
  /** `true` if the token before this turn is used once. */
  readonly isGuarded?: boolean;
  /** `true` if the token of this turn may be used again after a turn that changed nothing. */
  readonly mayStay?: boolean;
  /** `true` for a turn without a request of the client, which is no round. */
  readonly isOwn?: boolean;
  /** `true` for an abandoned saga: the queue takes the turn, and no client gets the token. */
  readonly isAbandoned?: boolean;
  /** `true` for a turn that a queue takes, in the place of the client. */
  readonly isWoken?: boolean;
  /** Called before the saga continues as another saga. A thrown error ends the turn. */
  readonly beforeContinueAs?: ((program: Program) => Promise<void>) | undefined;
  /**
   * How a run treats committed turns: it continues, or leaves them to another run. Default: no turn
   * is committed.
   */
  readonly commits?: 'continue' | 'hand over' | undefined;
  /** Called with each committed turn, before the next turn does anything. */
  readonly onCommit?: ((turn: SuspendedTurn) => Promise<void>) | undefined;
  /** Error for the client, instead of the error of the saga. */
  readonly failsAs?: SagaHostError | undefined;
  /** `true` if the turn ends after a server step, for a client that gets a token after each. */
  readonly endsAfterStep?: boolean;
  /** Ends and compensates the saga within this turn. */
  readonly end?: EndRequest;
}
