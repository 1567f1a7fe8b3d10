import type { ClientAnswer, Json } from '@mcp-saga/core';
import type { Answers, HostParts } from '../settings/host-parts.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

/** Reports instant refusals to `onInstantRefusal`. */
export function reportInstantRefusals(
  { observer, timing, answers: by }: Pick<HostParts, 'observer' | 'timing' | 'answers'>,
  { claims, sagaId }: SealedSaga,
  asked: ReadonlySet<string>,
  answers: ReadonlyMap<string, ClientAnswer>,
): void {
  const afterMs = timing.clock() - claims.iat;
  if (afterMs >= by.instantRefusals.withinMs) return;
  for (const [stepId, answer] of answers) {
    const action = asked.has(stepId) ? refusalOf(answer) : undefined;
    if (action !== undefined)
      observer.hooks.onInstantRefusal({ saga: claims.saga.name, sagaId, stepId, action, afterMs });
  }
}

/**
 * Replaces instant refusals by a "method not found" error, with `treatAs: 'unsupported'`.
 *
 * @param at - time of the request with these answers (ms since the epoch)
 */
export function withoutInstantRefusals(
  { instantRefusals: { withinMs, treatAs } }: Pick<Answers, 'instantRefusals'>,
  { claims }: SealedSaga,
  answers: ReadonlyMap<string, ClientAnswer>,
  at: number,
): ReadonlyMap<string, ClientAnswer> {
  if (treatAs !== 'unsupported' || at - claims.iat >= withinMs) return answers;
  const unsupported = { code: -32_601, message: 'Refused before a person could read it.' };
  return new Map(
    [...answers].map(([stepId, answer]) => [
      stepId,
      answer.provenance === 'client' && refusalOf(answer) !== undefined
        ? { error: unsupported, provenance: 'client' }
        : answer,
    ]),
  );
}

function refusalOf(answer: ClientAnswer): 'decline' | 'cancel' | undefined {
  const { action } = Object('result' in answer ? answer.result : undefined) as { readonly action?: Json };
  return action === 'decline' || action === 'cancel' ? action : undefined;
}
