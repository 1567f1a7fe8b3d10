import type { Json } from '@mcp-saga/core';
import { withoutKeys, type ClientAnswer } from '@mcp-saga/core/program';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { Answerers, HostParts } from '../settings/host-parts.ts';

/** No person reads a question and refuses it in this time, in milliseconds. */
const instantMs = 1_000;

/**
 * Warns of a refusal that is faster than any person: most likely, nobody saw the question. The scripts
 * of tests answer at once.
 * @param afterMs - time from the question to the answers, in milliseconds
 */
export function warnOfInstantRefusals(
  { observer, timing, answerers }: Pick<HostParts, 'observer' | 'timing' | 'answerers'>,
  { claims }: SealedSaga,
  afterMs: number,
  news: ReadonlyMap<string, ClientAnswer>,
): void {
  const isTest = timing.isSimulated || (observer.isTrial && !observer.develops);
  if (isTest || answerers.instantRefusals === 'unsupported' || afterMs >= instantMs) return;
  const refused = [...news].find(([, answer]) => isRefusal(answer));
  if (refused === undefined || !observer.isTimeForRefusal(claims.saga.name)) return;
  observer.hooks.onWarning(
    `A client refused '${withoutKeys(refused[0])}' of saga '${claims.saga.name}' after ${afterMs} ms, before a person could read it: see answerers.instantRefusals.`,
  );
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
      answer.provenance === 'client' && isRefusal(answer)
        ? { error: unsupported, provenance: 'client' }
        : answer,
    ]),
  );
}

function isRefusal(answer: ClientAnswer): boolean {
  const { action } = Object('result' in answer ? answer.result : undefined) as {
    readonly action?: Json;
  };
  return action === 'decline' || action === 'cancel';
}
