import type { ClientNeed, ClientStep } from '@mcp-saga/core';
import { mayAskClient } from '../host/ladder.ts';
import type { SagaHostCore } from '../host/host.ts';
import { sealSaga, toSealedSaga } from '../host/sealed-saga.ts';
import type { SuspendedTurn } from '../host/turn.ts';
import { resumeTokenMethod } from './begin-call.ts';
import type { ClientCall } from './dialect.ts';
import { toInterimResult } from './interim-result.ts';
import { needOf } from './questions.ts';

/** What the client of a call is asked while the call runs. The model that calls is asked for the rest. */
export function asksOfCall(
  { settings }: SagaHostCore,
  { client }: Pick<ClientCall, 'client'>,
): readonly ClientNeed[] {
  return client.asks.filter((need) => mayAskClient(settings, need));
}

/** Questions of a turn that the client of a call is asked while the call runs. */
export function stepsForClient(
  host: SagaHostCore,
  call: Pick<ClientCall, 'client'>,
  { steps }: Pick<SuspendedTurn, 'steps'>,
): readonly ClientStep[] {
  const asks = asksOfCall(host, call);
  return steps.filter((step) => asks.includes(needOf(step)));
}

/**
 * Returns `true` if a call ends before its saga does: a page has to be shown, only the model is asked, or the wait is too
 * long. Only results of tools have a place for a token.
 *
 * @param maxWait - how long the call can still wait, in milliseconds
 */
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

/** Ends a call whose saga continues: an interim result with a resume token. The model is not asked what the client is. */
export async function endWithToken(
  host: SagaHostCore,
  call: Pick<ClientCall, 'client'>,
  turn: SuspendedTurn,
): Promise<object> {
  const { sealer } = host.settings;
  const saga = toSealedSaga(
    await sealer.open(turn.token, { purpose: 'token', ignoreExpiry: true, allowFuture: true }),
  );
  const claims = { ...saga.claims, method: resumeTokenMethod };
  const forClient = stepsForClient(host, call, turn);
  return await toInterimResult(host.settings, {
    ...turn,
    token: await sealSaga(sealer, { ...saga, claims }),
    steps: turn.steps.filter((step) => !forClient.includes(step)),
  });
}
