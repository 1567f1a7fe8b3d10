import type { ClientAnswer, Runnable } from '@mcp-saga/core/program';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { Holder } from '../model/holder.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

/** Input of a turn. */
export interface TurnRequest {
  readonly program: Runnable;
  readonly saga: SealedSaga;
  readonly intent: Intent;
  readonly caller: Caller;
  readonly dialect: DialectCapabilities;
  /** Who takes the next turn. */
  readonly holder: Holder;
  /** What ran of this turn before, with unknown effects. Default: nothing. */
  readonly before?: EarlierRun | undefined;
  /** `true` if the token of this turn may be used again after a turn that changed nothing. */
  readonly mayStay?: boolean;
}

/** A run of a turn that did not end, with unknown effects. */
export type EarlierRun =
  /** Of the same request. The turns after the first commit are left to another run. */
  | {
      readonly of: 'same request';
      /** `true` if it committed after each step: then it had begun no step behind the first. */
      readonly committedEachStep: boolean;
    }
  /** Of another request, which changed nothing. */
  | { readonly of: 'other request' };

/** What a turn does with its saga. */
export type Intent = {
  /** Time at which the request first arrived (ms since the epoch). Default: now. */
  readonly receivedAt?: number | undefined;
} & (
  | {
      readonly kind: 'answer';
      /** Answers by the IDs on the wire. Empty: the saga goes on without an answer. */
      readonly answers: ReadonlyMap<string, ClientAnswer>;
    }
  /** Ends the saga, and undoes its steps within the turn, however long that takes. */
  | { readonly kind: 'end'; readonly error: unknown }
);

/** Answers that a turn brings. */
export function answersOf(intent: Intent): ReadonlyMap<string, ClientAnswer> {
  return intent.kind === 'answer' ? intent.answers : new Map();
}
