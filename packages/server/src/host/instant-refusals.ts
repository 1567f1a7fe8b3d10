import type { ClientAnswer, Json } from '@mcp-saga/core';
import type { HostSettings } from './host-options.ts';
import type { SealedSaga } from './sealed-saga.ts';

/**
 * Options for refusals faster than any person, by clients without a user to ask.
 *
 * @example
 * ```ts
 * const instantRefusals: InstantRefusalOptions = { treatAs: 'unsupported', withinMs: 300 };
 * ```
 */
export interface InstantRefusalOptions {
  /**
   * Time from the question to the refusal within which the refusal is instant, in milliseconds.
   *
   * @default 1000
   */
  readonly withinMs?: number;
  /**
   * `refused`: the saga gets the refusal. `unsupported`: the saga continues as with a client without elicitation. Its fallback
   * answers, or the step throws `ClientCannot`. Clients can cause the same by declaring no elicitation.
   *
   * @default 'refused'
   */
  readonly treatAs?: 'refused' | 'unsupported';
}

/**
 * Completes the options for instant refusals.
 *
 * @throws RangeError if `withinMs` is not a number of milliseconds from 0
 */
export function toInstantRefusals({
  withinMs = 1_000,
  treatAs = 'refused',
}: InstantRefusalOptions = {}): Required<InstantRefusalOptions> {
  if (typeof withinMs !== 'number' || !(withinMs >= 0))
    throw new RangeError('instantRefusals.withinMs must be a number of milliseconds from 0.');
  return { withinMs, treatAs };
}

/** Reports instant refusals to `onInstantRefusal`. */
export function reportInstantRefusals(
  { hooks, clock, instantRefusals }: Pick<HostSettings, 'hooks' | 'clock' | 'instantRefusals'>,
  { claims, sagaId }: SealedSaga,
  asked: ReadonlySet<string>,
  answers: ReadonlyMap<string, ClientAnswer>,
): void {
  const after = clock() - claims.iat;
  if (after >= instantRefusals.withinMs) return;
  for (const [stepId, answer] of answers) {
    const action = asked.has(stepId) ? refusalOf(answer) : undefined;
    if (action !== undefined)
      hooks.onInstantRefusal({ saga: claims.saga.name, sagaId, stepId, action, after });
  }
}

/**
 * Replaces instant refusals by a "method not found" error, with `treatAs: 'unsupported'`.
 *
 * @param at - time of the request with these answers (ms since the epoch)
 */
export function withoutInstantRefusals(
  { instantRefusals: { withinMs, treatAs } }: Pick<HostSettings, 'instantRefusals'>,
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
