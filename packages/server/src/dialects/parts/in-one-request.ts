import { TurnAborted } from '@mcp-saga/core';
import type { StepAnswer } from '../../wire/step-answers.ts';
import type { Caller } from '../../model/caller.ts';
import type { DialectTraits } from '../../model/dialect-traits.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import { beginCall, isResumed } from './begin-call.ts';
import type { ClientCall } from '../../model/client-call.ts';

/** Part of a dialect that runs all turns of a saga within one request. */
interface OneRequest {
  /** Gets the answers to the questions of a turn. Rejects if the client has left. */
  readonly answersTo: (turn: SuspendedTurn) => Promise<readonly StepAnswer[]>;
  /** Ends the request with a result that has the token of a turn, if the saga cannot continue in this request. */
  readonly endWith?: (turn: SuspendedTurn) => Promise<object> | undefined;
}

/**
 * Runs all turns of a saga within one request. The client gets a token only if the request ends before the saga.
 *
 * If the client aborts, disconnects, or times out, the current turn ends before its next step. A saga that declares `forks` is
 * then undone at once. With `onSuspended`, the queue of the operator undoes it instead, as after any absent client.
 */
export async function inOneRequest(
  host: SagaHostCore,
  call: ClientCall,
  can: () => DialectTraits,
  { answersTo, endWith }: OneRequest,
): Promise<object> {
  const { method, caller, isResumable = false } = call;
  // A client with resumable requests has the tokens, and may resume the saga.
  const traits = (): DialectTraits => ({ ...can(), endsOnAbort: !isResumable });
  let turn = await beginCall(host, call, method, traits());
  const { turn: first } = turn;
  try {
    while (turn.status === 'suspended') {
      if (caller.signal?.aborted === true) throw new TurnAborted(caller.signal.reason);
      const result = endWith?.(turn);
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      if (result !== undefined) return await received(result, caller);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      const answers = await answersTo(turn);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      turn = await host.resume(turn.token, answers, caller, { methods: [method], traits: traits() });
    }
    return call.toResult(turn);
  } catch (error) {
    if (!isResumable && turn.status === 'suspended') await undoLeft(host, call, turn, first);
    throw error;
  }
}

/** A result with a token. Throws if the client left while it was made. */
async function received(made: Promise<object>, { signal }: Caller): Promise<object> {
  const result = await made;
  if (signal?.aborted === true) throw new TurnAborted(signal.reason);
  return result;
}

/** Cancels a saga, because its token is lost with this request. A repeated resume token gives the turn `first` again. */
async function undoLeft(
  host: SagaHostCore,
  call: ClientCall,
  { token, turn, saga }: SuspendedTurn,
  first: number,
): Promise<void> {
  const { registry } = host;
  const { notifiesSuspended, hooks } = host.observer;
  // Not of the call: the saga may have continued as another one.
  const forks = registry.named(saga)?.forks;
  const isQueued = notifiesSuspended && forks === 'refuse';
  const isRepeated = isResumed(call) && (forks === 'accept' || turn === first);
  if (forks === undefined || isQueued || isRepeated) return;
  try {
    const request = { methods: [call.method], reason: 'The client has left.' };
    const { signal: _, ...caller } = call.caller;
    await host.cancel(token, caller, request);
  } catch (error) {
    // The client is gone, so only the operator can read it.
    hooks.onError(error);
  }
}
