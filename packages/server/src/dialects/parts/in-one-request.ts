import { mayHaveUndos } from '../../settings/host-parts.ts';
import { TurnAborted } from '@mcp-saga/core';
import type { StepAnswer } from '../../wire/step-answers.ts';
import type { Caller } from '../../model/caller.ts';
import type { DialectCapabilities } from '../../model/dialect-capabilities.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import { isUsed } from '../../requests/drive.ts';
import { beginCall, isResumed } from './begin-call.ts';
import { isPastPivot } from '../../token/resolve-program.ts';
import { sendWakeOf } from '../../turn/settle.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { openTurn, sagaOf } from '../../token/saga-of-turn.ts';
import { isNamed } from '../../token/sealed-saga.ts';

/** Part of a dialect with all turns of a saga in one request. */
interface OneRequest {
  /** Gets the answers to the questions of a turn. Rejects if the client disconnected. */
  readonly answersTo: (turn: SuspendedTurn) => Promise<readonly StepAnswer[]>;
  /** Ends the request with a result and a token, if the saga cannot continue in this request. */
  readonly endWith?: (turn: SuspendedTurn) => Promise<object> | undefined;
}

/**
 * Runs all turns of a saga within one request. The client gets a token only if the request ends
 * before the saga.
 *
 * If the client aborts, disconnects, or times out, the current turn ends before its next step, and
 * a saga that may have undos is undone at once: nobody has its token. A queue that knows the saga
 * finishes the undo if this process dies, and continues a saga past its pivot.
 */
export async function inOneRequest(
  host: SagaHostCore,
  call: ClientCall,
  can: () => DialectCapabilities,
  { answersTo, endWith }: OneRequest,
): Promise<object> {
  const { method, caller, isResumable = false } = call;
  // A client with resumable requests has the tokens, and may resume the saga.
  const dialect = (): DialectCapabilities => ({ ...can(), endsOnAbort: !isResumable });
  let turn = await beginCall(host, call, method, dialect());
  const { turn: first } = turn;
  try {
    while (turn.status === 'suspended') {
      if (caller.signal?.aborted === true) throw new TurnAborted(caller.signal.reason);
      const result = endWith?.(turn);
      if (result !== undefined) {
        const withToken = await received(result, caller);
        await sendWakeOf(host, turn, { capabilities: caller.capabilities, dialect: dialect() });
        return withToken;
      }
      const answers = await answersTo(turn);
      const asked = turn;
      const request = { methods: [method], dialect: dialect() };
      turn = await host
        .resume(asked.token, answers, caller, request)
        .catch(async (error: unknown) => {
          if (!isUsed(error) || isResumed(call) || !isNamed(await sagaOf(host, asked))) throw error;
          // Another request of the same call has ended the saga: this one gets the result.
          return await beginCall(host, call, method, request.dialect);
        });
    }
    return call.toResult(turn);
  } catch (error) {
    if (!isResumable && turn.status === 'suspended') await undoAbandoned(host, call, turn, first);
    throw error;
  }
}

/** Awaits a result with a token. Throws if the client disconnected meanwhile. */
async function received(made: Promise<object>, { signal }: Caller): Promise<object> {
  const result = await made;
  if (signal?.aborted === true) throw new TurnAborted(signal.reason);
  return result;
}

/**
 * Cancels a saga whose token is lost with this request. A repeated resume token returns the turn
 * `first` again.
 */
async function undoAbandoned(
  host: SagaHostCore,
  call: ClientCall,
  suspended: SuspendedTurn,
  first: number,
): Promise<void> {
  const { token, turn, saga } = suspended;
  // The saga may have continued as another one.
  const program = host.registry.named(saga);
  if (program === undefined || !mayHaveUndos(host, program)) return;
  if (isResumed(call) && (program.reuse === 'ok' || turn === first)) return;
  try {
    if (host.guard?.queue !== undefined && program.reuse !== 'ok') {
      const opened = await openTurn(host, suspended);
      // A client whose key counts may repeat its call. The queue ends the saga if it does not.
      if (isNamed(opened.saga) || isPastPivot(opened)) return;
    }
    const request = { methods: [call.method], reason: 'The client disconnected.' };
    const { signal: _, ...caller } = call.caller;
    await host.cancel(token, caller, request);
  } catch (error) {
    // The client has repeated its call, and that request has the saga now.
    if (isUsed(error)) return;
    // The client is gone, so the error goes to the operator.
    host.observer.hooks.onError(error);
  }
}
