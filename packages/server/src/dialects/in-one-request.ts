import type { StepAnswer } from '../host/answers.ts';
import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import type { SagaTurn, SuspendedTurn } from '../host/turn.ts';
import type { ClientCall } from './dialect.ts';

/**
 * Runs a saga whose tokens stay in its request, turn after turn, to its end.
 *
 * If the client leaves, a saga that declares `forks` is undone. The turn that runs ends before its next step, so that its token
 * says what it did. Where a queue is told of sagas that wait (`onSuspended`), it does so, as for every client that does not come back.
 *
 * @param can - what the dialect can do in a turn
 * @param answersTo - the answers to what a turn asks. Rejects if the client has left.
 */
export async function inOneRequest(
  host: SagaHostCore,
  call: ClientCall,
  can: DialectTraits,
  answersTo: (turn: SuspendedTurn) => Promise<readonly StepAnswer[]>,
): Promise<object> {
  const { saga, args, method, isResumable = false } = call;
  // A client that was told the tokens goes on with the saga by itself.
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

/** Undoes a saga that nobody goes on with: its token ends with this request. */
async function undoLeft(host: SagaHostCore, call: ClientCall, { token }: SuspendedTurn): Promise<void> {
  const { guard, notifiesSuspended, hooks } = host.settings;
  const isQueued = notifiesSuspended && guard !== undefined && call.saga.forks === 'refuse';
  if (isQueued) return;
  try {
    const request = { methods: [call.method], reason: 'The client has left.' };
    const { signal: _, ...caller } = call.caller;
    await host.cancel(token, caller, request);
  } catch (error) {
    // Nobody is there to be told.
    hooks.onError(error);
  }
}
