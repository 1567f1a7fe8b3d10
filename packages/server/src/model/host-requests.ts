import type { Program, Provenance } from '@mcp-saga/core';
import type { SagaCaller } from './caller.ts';
import type { DialectTraits } from './dialect-traits.ts';
import type { SuspendedTurn } from './turn.ts';

/** Options of a request to a host. */
export interface HostRequest {
  /** Sender of the request, and what it brings. Default: no principal, no capabilities. */
  readonly caller?: SagaCaller;
  /** Aborts the turn: it stops between steps, undoes nothing, and the token before it stays good. */
  readonly signal?: AbortSignal;
}

/** Options of a request to cancel a saga. */
export interface CancelHostRequest extends HostRequest {
  /** Reason, for the client that reads the result. */
  readonly reason?: string;
}

/** How a request came, for the claims of the token it starts. Dialects set it; others leave it out. */
export interface StartRequest {
  /**
   * Method by which a client started the saga: sealed, and checked when the saga continues. Its arguments may be compressed in
   * the token. Default `host`: server code made the arguments, which are never compressed.
   */
  readonly method?: string;
  /** What the saga has to be; another one is as unknown as none. Default: anything. */
  readonly serves?: Program['serves'];
  /** What the dialect can do in this turn. */
  readonly traits?: DialectTraits;
}

/** How a request came, for the checks of the token it brings. Dialects set it; others leave it out. */
export interface ResumeRequest {
  /** The methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
  /** Method of another call that continues the saga, in rounds of its own. Sealed from now on. Default: the same call. */
  readonly method?: string;
  /** The call the client repeats, where the dialect repeats it. */
  readonly entry?: { readonly target: string; readonly args: unknown };
  /** The name of the field the answers came in, for errors. Default `answers`. */
  readonly answersField?: string;
  /** Who gave the answers. Default `client`. (T14) */
  readonly provenance?: Provenance;
  /** What the dialect can do in this turn. */
  readonly traits?: DialectTraits;
  /** `true` if the host continues by itself within a request: not a round of the client. Default false. */
  readonly isOwnRound?: boolean;
  /** `true`: a token that was used with answers gets the response of then, without them. Only a guard knows. Default `false`. */
  readonly follows?: boolean;
  /** Called before a saga continues as another one in this turn. If it throws, the turn ends, and its token stays good. */
  readonly goesOnAs?: (program: Program) => Promise<void>;
  /** Told of each turn that is committed, before the next one does anything. */
  readonly onCommit?: (turn: SuspendedTurn) => Promise<void>;
}

/** How a request to cancel came. */
export interface CancelRequest {
  /** Why, for the client that reads the result. */
  readonly reason?: string;
  /** The methods that may have started the saga. A dialect sets it; cancel tokens are refused then. */
  readonly methods?: readonly string[];
}

/** How a status request came. */
export interface StatusRequest {
  /** The methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
}
