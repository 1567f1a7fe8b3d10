import { type Json, SagaError, type ClientStep } from '@mcp-saga/core';
import { isLargerThan, present, type ClientAnswer } from '@mcp-saga/core/program';
import { TokenRefused, type Sealer } from '@mcp-saga/seal';
import { asksOf } from '../wire/step-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { StepIds } from '../wire/step-answers.ts';
import type { HostLimits } from '../model/host-limits.ts';
import { readSealedJson } from './sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { SagaHostError, publicMessageOf } from '../wire/errors.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';

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
 * Keeps the part of a request needed to retry the turn: answers to its questions, within the limits of answers. A guard
 * keeps it for weeks, so a client must not choose its size.
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

/** Seals what a request brings, for the guard to keep while the turn runs. `round` counts the requests of its client. */
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

/** Bytes that a result or the questions of a turn may have for a guard to keep them: half of what a response may. */
const maxKeptBytes: number = 32 * 1024 * 1024;

/** Throws `invalid_result` for a response too large for a guard, before effects: they would run again with each repetition. */
export function assertKeepable(what: string, value: object | string): void {
  if (!isLargerThan(maxKeptBytes, value)) return;
  const message = `${what} more than the ${maxKeptBytes} bytes that a guard keeps`;
  throw new SagaHostError('invalid_result', message, { public: false });
}

/** Seals the response of a turn for the guard. `isCommitted`: the host continues from it, and no client gets its token. */
export async function sealResponse(
  sealer: Sealer,
  saga: SealedSaga,
  turn: SagaTurn,
  isCommitted: boolean = false,
): Promise<string> {
  const kept = isCommitted ? { ...turn, goesOn: 'commit' } : keptOf(turn);
  // All of it is JSON; as the codec would write it, it would be deeper than the codec lets through.
  const bytes = JSON.stringify(kept);
  return await sealer.seal('response', saga.sagaId, saga.claims, [{ bytes, compress: false }]);
}

/** The part of a response that has to be kept: large questions are rendered again from the token. */
function keptOf(turn: SagaTurn): object {
  if (turn.status === 'failed') return { ...turn, error: publicMessageOf(turn.saga, turn.error) };
  if (turn.status === 'completed' || questionBytes(turn) <= Math.max(smallQuestions, turn.token.length))
    return turn;
  const { steps, content: _content, ...rest } = turn;
  const asked = steps.map(({ stepId, reason }) => ({ stepId, ...present({ reason }) }));
  return { ...rest, asked } satisfies UnrenderedTurn;
}

/** Opens a response that the guard kept. Of an error only the public message was kept. */
export async function openResponse(
  sealer: Sealer,
  saga: SealedSaga,
  response: string,
): Promise<KeptResponse> {
  const { streams, claims } = await sealer.open(response, {
    purpose: 'response',
    sid: saga.sagaId,
    ignoreExpiry: true,
    // The time of the token was checked. A token that the host continues from by itself may be of a clock that is ahead.
    allowFuture: true,
  });
  const kept = readSealedJson(streams[0]) as KeptTurn;
  // Of another token; or no response at all, but what a request brought.
  if (claims.jti !== saga.claims.jti || !('status' in kept)) throw new TokenRefused('used');
  if (kept.status === 'failed') {
    return { turn: { ...kept, error: new SagaError(String(kept.error)) }, isCommitted: false };
  }
  if (kept.goesOn === undefined) return { turn: kept, isCommitted: false };
  // Older releases kept the questions of a turn that the host continues.
  const { goesOn: _, ...turn } = kept;
  return { turn: { steps: [], ...turn } as SuspendedTurn, isCommitted: true };
}

/** A response that a guard kept. */
export type KeptResponse =
  | { readonly turn: SagaTurn | UnrenderedTurn; readonly isCommitted: false }
  | { readonly turn: SuspendedTurn; readonly isCommitted: true };

type KeptTurn = (SagaTurn | UnrenderedTurn) & { readonly goesOn?: string };

/** A suspended turn without its questions: its token renders them again. */
export interface UnrenderedTurn extends Omit<SuspendedTurn, 'steps' | 'content'> {
  readonly asked: readonly Pick<ClientStep, 'stepId' | 'reason'>[];
}

/** Questions up to this size, in bytes, are always kept. */
const smallQuestions = 1024;

/** Size of a sealed response without token and questions, in bytes. */
const responseOverhead = 600;

/** Time for which a guard keeps a response after its token has expired, in milliseconds. */
const margin = 5 * 60_000;

function questionBytes({ steps, content = [] }: Pick<SuspendedTurn, 'steps' | 'content'>): number {
  return JSON.stringify([steps, content]).length;
}

/** Estimates the size of all responses of a saga in the guard, in bytes, from its token. Decays as responses expire. */
export function keptBytesOf(
  { timing: { clock }, limits: { tokenTtlMs } }: Pick<HostParts, 'timing' | 'limits'>,
  { claims, state }: SealedSaga,
  tokenBytes: number,
): number {
  if (state.keptBytes === undefined) return 0;
  const age = Math.max(0, clock() - claims.iat);
  return Math.ceil((state.keptBytes + sealedBytes(tokenBytes)) * Math.exp(-age / (tokenTtlMs + margin)));
}

/** Number for the next token to carry: the estimate without the length of the next token. */
export function nextKeptBytes(
  host: Pick<HostParts, 'timing' | 'limits'>,
  saga: SealedSaga,
  tokenBytes: number,
  asked: Pick<SuspendedTurn, 'steps' | 'content'>,
): number {
  const questions = Math.min(questionBytes(asked), Math.max(smallQuestions, tokenBytes));
  return keptBytesOf(host, saga, tokenBytes) + sealedBytes(questions) + responseOverhead;
}

/** Sealing makes four characters of three bytes. */
function sealedBytes(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
