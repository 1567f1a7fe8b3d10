import type { StepAnswer } from '../host/answers.ts';
import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import type { SagaTurn, SuspendedTurn } from '../host/turn.ts';
import type { ClientCall } from './dialect.ts';

/**
 * Runs all turns of a saga within one request. The client never gets a token.
 *
 * If the client aborts, disconnects, or times out, the current turn ends before its next step. A saga that declares `forks` is
 * then undone at once. With `onSuspended`, the queue of the operator undoes it instead, as after any absent client.
 *
 * @param can - capabilities of the dialect
 * @param answersTo - gets the answers to the questions of a turn. Rejects if the client has left.
 */
export async function inOneRequest(
  host: SagaHostCore,
  call: ClientCall,
  can: DialectTraits,
  answersTo: (turn: SuspendedTurn) => Promise<readonly StepAnswer[]>,
): Promise<object> {
  const { saga, args, method, isResumable = false } = call;
  // A client with resumable requests has the tokens, and may resume the saga.
  const undoes = saga.forks !== undefined && !isResumable;
  const { caller } = call;
  const request = { traits: { ...can, endsOnAbort: undoes } };
  let turn: SagaTurn = await host.start(saga.name, args, caller, { method, ...request });
  try {
    while (turn.status === 'suspended') {
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      const answers = await answersTo(turn);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      turn = await host.resume(turn.token, answers, caller, { methods: [method], ...request });
    }
    return call.toResult(turn);
  } catch (error) {
    if (undoes && turn.status === 'suspended') await undoLeft(host, call, turn);
    throw error;
  }
}

/** Cancels a saga, because its token is lost with this request. */
async function undoLeft(host: SagaHostCore, call: ClientCall, { token }: SuspendedTurn): Promise<void> {
  const { guard, notifiesSuspended, hooks } = host.settings;
  const isQueued = notifiesSuspended && guard !== undefined && call.saga.forks === 'refuse';
  if (isQueued) return;
  try {
    const request = { methods: [call.method], reason: 'The client has left.' };
    const { signal: _, ...caller } = call.caller;
    await host.cancel(token, caller, request);
  } catch (error) {
    // The client is gone, so only the operator can read it.
    hooks.onError(error);
  }
}
