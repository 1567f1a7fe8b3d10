import type { ClientAnswer, Json } from '@mcp-saga/core';
import { isLargerThan } from '@mcp-saga/core/program';
import { TokenRefused, type Sealer } from '@mcp-saga/seal';
import { asksOf } from '../wire/capabilities.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { StepIds } from '../wire/step-ids.ts';
import type { HostLimits } from '../model/host-limits.ts';
import { readSealedJson } from './sealed-json.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

/** What a request brings to a turn: with it the turn can be brought to its end by somebody else. */
export interface BegunRequest {
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** What could be done for its client. */
  readonly traits: DialectTraits;
  /** What its client declared; undefined when that is not known. */
  readonly capabilities: Json | undefined;
  /** When it came (ms since the epoch); undefined where an older release has kept it. */
  readonly at: number | undefined;
  /** `true` if it cancels the saga, or takes it forward in its client's place. Absent: it resumes the saga. */
  readonly cancels?: true;
}

/**
 * As much of what a client sent as its turn can make use of: of its answers, those to what was asked last, and nothing that is
 * larger than answers may be. A guard keeps it for weeks, of requests that were cut too: a client does not choose how much. (T11)
 */
export function usableOf(
  { toWire }: Pick<StepIds, 'toWire'>,
  { answers: news, traits, capabilities, at }: BegunRequest,
  { maxAnswerBytes }: Pick<HostLimits, 'maxAnswerBytes'>,
): BegunRequest {
  const fits = (value: object | Json): boolean => !isLargerThan(maxAnswerBytes, value);
  const usable = [...news].filter(([, answer]) => fits('error' in answer ? answer.error : answer.result));
  // What it can be asked for is known, however much it declares.
  const asks = traits.asks ?? (capabilities === undefined ? undefined : asksOf(capabilities));
  return {
    answers: new Map(usable.map(([stepId, answer]) => [toWire(stepId), answer])),
    traits: asks === undefined ? traits : { ...traits, asks },
    capabilities: capabilities !== undefined && fits(capabilities) ? capabilities : undefined,
    at,
  };
}

/**
 * Seals what a request brings, for the guard to keep while the turn runs: it shall read nothing.
 *
 * @param round - how often its client has come
 */
export async function sealRequest(
  sealer: Sealer,
  saga: SealedSaga,
  { answers, traits, capabilities, at, cancels }: BegunRequest,
  round: number,
): Promise<string> {
  // How long its client would have waited decides how far the turn went, whoever repeats it.
  const kept: KeptTraits = { ...traits, maxWait: traits.maxWait?.(round) };
  // All of it is JSON, which the door let in; as the codec would write it, it would be deeper than the codec lets through.
  const bytes = JSON.stringify({ begun: { answers: [...answers], traits: kept, capabilities, at, cancels } });
  return await sealer.seal('response', saga.sagaId, saga.claims, [{ bytes, compress: false }]);
}

/** What a request brought, as the guard kept it. */
export async function openRequest(sealer: Sealer, saga: SealedSaga, request: string): Promise<BegunRequest> {
  const { streams, claims } = await sealer.open(request, {
    purpose: 'response',
    sid: saga.sagaId,
    ignoreExpiry: true,
    // The time of the token was checked. A token that the host continues from by itself may be of a clock that is ahead.
    allowFuture: true,
  });
  const { begun } = readSealedJson(streams[0]) as { readonly begun?: KeptRequest };
  // Of another token; or no request at all, but a response.
  if (claims.jti !== saga.claims.jti || begun === undefined) throw new TokenRefused('used');
  const { answers, traits, capabilities, at, cancels } = begun;
  const { maxWait, ...rest } = traits;
  const kept = { ...rest, ...(typeof maxWait === 'number' ? { maxWait: () => maxWait } : {}) };
  return {
    answers: new Map(answers),
    traits: kept,
    capabilities,
    at,
    ...(cancels === true ? { cancels } : {}),
  };
}

/** Who takes the place of a client that began a turn, and is served as that one would have been. */
export function inPlaceOf({ capabilities }: Pick<BegunRequest, 'capabilities'>, caller: Caller): Caller {
  const { capabilities: _own, ...rest } = caller;
  return capabilities === undefined ? rest : { ...rest, capabilities };
}

/** Traits as JSON. What older releases kept has no `limits.maxHoldMs` and none of those behind it. */
type KeptTraits = Omit<DialectTraits, 'maxWait'> & { readonly maxWait: number | null | undefined };

type KeptRequest = Pick<BegunRequest, 'capabilities' | 'at' | 'cancels'> & {
  readonly traits: KeptTraits;
  readonly answers: readonly (readonly [stepId: string, answer: ClientAnswer])[];
};
