import type { ClientAnswer } from '@mcp-saga/core/program';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { GuardClaim } from '../model/guard.ts';
import type { Holder } from '../model/holder.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import type { OpenSaga } from '../token/resolve-program.ts';
import { openTurn } from '../token/saga-of-turn.ts';
import { roundsOf } from '../token/sealed-saga.ts';

/** A turn of a saga, and what a request wants there. */
export interface RequestedTurn {
  readonly opened: OpenSaga;
  readonly intent: RequestIntent;
  /** Time of the request (ms since the epoch). */
  readonly at: number;
  readonly holder: Holder;
  readonly dialect: DialectCapabilities;
  /** See `ResumeRequest`. */
  readonly follows: boolean;
  /** `true` for a start that may be repeated: it gets the newest turn, even that of a cancellation. */
  readonly learnsEnd?: boolean;
  /** Method of another call that continues the saga. Default: the same call. */
  readonly method?: string | undefined;
  /** `true` if the token may stay good after a turn without changes. */
  readonly mayStay: boolean;
  /** `true` if the turn may begin beyond the limit of what is stored: earlier turns were checked. */
  readonly isUnlimited: boolean;
  /** Number of requests of the client before this one. */
  readonly roundsBefore: number;
  /** What a request decides that follows the saga to the turn where it can be used. */
  readonly decided?: GuardClaim['decided'];
}

/** What a request wants of a saga. */
export type RequestIntent = AnswerIntent | EndIntent;

/** To go on, with answers if there are any. */
export interface AnswerIntent {
  readonly kind: 'answer';
  /** Answers by the IDs on the wire. */
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** Those to the pending questions, by the IDs of their steps. */
  readonly news: ReadonlyMap<string, ClientAnswer>;
  /** Time from the questions to the answers, in milliseconds. */
  readonly afterMs: number;
}

/** To end, however many turns that takes. */
export interface EndIntent {
  readonly kind: 'end';
  /** A queue ends a saga that its client has abandoned. */
  readonly by: 'client' | 'queue';
  /** `true` if a saga past its pivot continues instead. */
  readonly goesForward: boolean;
  /** Reason, shown in the result. */
  readonly reason?: string | undefined;
  /** End of the time for turns that only go forward (ms since the epoch). Default: none has run. */
  readonly until?: number | undefined;
  /** Number of turns in a row that recorded nothing. @default 0 */
  readonly idle?: number;
}

/** To go on without an answer. */
export const goOn: AnswerIntent = {
  kind: 'answer',
  answers: new Map(),
  news: new Map(),
  afterMs: Number.POSITIVE_INFINITY,
};

/** Returns the turn of a request that only lets time pass. */
export function requestWithoutAnswers(
  host: Pick<HostParts, 'timing'>,
  opened: OpenSaga,
  { holder, dialect }: Pick<RequestedTurn, 'holder' | 'dialect'>,
): RequestedTurn {
  return {
    opened,
    intent: goOn,
    at: host.timing.clock(),
    holder,
    dialect,
    follows: false,
    mayStay: true,
    isUnlimited: false,
    roundsBefore: roundsOf(opened.saga),
  };
}

/** Returns the same request at a later turn of its saga, which only lets time pass there. */
export async function requestAt(
  host: HostParts,
  before: RequestedTurn,
  turn: SuspendedTurn,
): Promise<RequestedTurn> {
  return {
    ...before,
    opened: await openTurn(host, turn),
    intent: goOn,
    at: host.timing.clock(),
    // The message of a queue may come at any time, so each of its turns is a request of its own.
    isUnlimited: before.holder.kind !== 'queue',
  };
}
