import type { ClientAnswer, Json } from '@mcp-saga/core';
import type { HostSettings } from './host-options.ts';
import type { SealedSaga } from './sealed-saga.ts';

// Nobody reads a question and refuses it in less.
const soonest = 1_000;

/**
 * Reports questions that were refused sooner than a person can have: the client declares that it asks its user, and
 * refuses by itself. To the saga it is a refusal like any other. (W3)
 */
export function reportInstantRefusals(
  { hooks, clock }: Pick<HostSettings, 'hooks' | 'clock'>,
  { claims, sagaId }: SealedSaga,
  asked: ReadonlySet<string>,
  answers: ReadonlyMap<string, ClientAnswer>,
): void {
  const after = clock() - claims.iat;
  if (after >= soonest) return;
  for (const [stepId, answer] of answers) {
    const action = asked.has(stepId) && 'result' in answer ? actionOf(answer.result) : undefined;
    if (action !== 'decline' && action !== 'cancel') continue;
    hooks.onInstantRefusal({ saga: claims.saga.name, sagaId, stepId, action, after });
  }
}

function actionOf(result: Json): unknown {
  return (Object(result) as { readonly action?: unknown }).action;
}
