import type { Json } from '@mcp-saga/core';
import type { ClientAnswer } from '@mcp-saga/core/program';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Answerers, HostParts } from '../settings/host-parts.ts';

/** No person reads a question and refuses it in this time, in milliseconds. */
const instantMs = 1_000;

/** Reports refusals that are faster than any person. */
export function reportInstantRefusals(
  { observer, timing }: Pick<HostParts, 'observer' | 'timing'>,
  { claims, sagaId }: SealedSaga,
  news: ReadonlyMap<string, ClientAnswer>,
): void {
  const afterMs = timing.clock() - claims.iat;
  if (afterMs >= instantMs) return;
  for (const [stepId, answer] of news) {
    const action = refusalOf(answer);
    if (action !== undefined)
      observer.hooks.onInstantRefusal({ saga: claims.saga.name, sagaId, stepId, action, afterMs });
  }
}

/**
 * Replaces instant refusals by a "method not found" error, if the host treats them as `unsupported`.
 * @param afterMs - time from the question to the answers, in milliseconds
 */
export function withoutInstantRefusals(
  { instantRefusals }: Pick<Answerers, 'instantRefusals'>,
  afterMs: number,
  answers: ReadonlyMap<string, ClientAnswer>,
): ReadonlyMap<string, ClientAnswer> {
  if (instantRefusals !== 'unsupported' || afterMs >= instantMs) return answers;
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
  const { action } = Object('result' in answer ? answer.result : undefined) as {
    readonly action?: Json;
  };
  return action === 'decline' || action === 'cancel' ? action : undefined;
}
