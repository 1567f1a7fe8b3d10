import type { ClientNeed, ClientStep } from '@mcp-saga/core';
import { mayAskClient } from '../../turn/answer-routes.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import { sealedFor } from '../../token/sealed-saga.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import { resumeTokenMethod } from './begin-call.ts';
import type { ClientCall } from '../../model/client-call.ts';
import { toInterimResult } from './interim-result.ts';
import { needOf } from '../../wire/step-requests.ts';

/** Capabilities that a saga uses while the call runs. The calling model does the rest. */
export function asksOfCall(
  host: SagaHostCore,
  { client }: Pick<ClientCall, 'client'>,
): readonly ClientNeed[] {
  return client.asks.filter((need) => mayAskClient(host, need));
}

/** Steps that the client does while the call runs. */
export function stepsForClient(
  host: SagaHostCore,
  call: Pick<ClientCall, 'client'>,
  { steps }: Pick<SuspendedTurn, 'steps'>,
): readonly ClientStep[] {
  const asks = asksOfCall(host, call);
  return steps.filter((step) => asks.includes(needOf(step)));
}

/** `true` if a call ends before the saga: only a page or the model can answer, or the wait is longer than `maxWait` ms. */
export function endsBeforeSaga(
  host: SagaHostCore,
  call: Pick<ClientCall, 'method' | 'client'>,
  turn: SuspendedTurn,
  maxWait: number,
): boolean {
  if (call.method !== 'tools/call') return false;
  const { steps, retryAfterMs = 0, hasPage = false } = turn;
  if (steps.length === 0) return hasPage || retryAfterMs > maxWait;
  return hasPage || stepsForClient(host, call, turn).length === 0;
}

/** Ends a call with an interim result and a resume token. The result leaves out the steps for the client. */
export async function endWithToken(
  host: SagaHostCore,
  call: Pick<ClientCall, 'client'>,
  turn: SuspendedTurn,
): Promise<object> {
  const forClient = stepsForClient(host, call, turn);
  return await toInterimResult(host, {
    ...turn,
    token: await sealedFor(resumeTokenMethod, host.keys.sealer, turn.token),
    steps: turn.steps.filter((step) => !forClient.includes(step)),
  });
}
