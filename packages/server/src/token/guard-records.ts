import { type Json, SagaError, type ClientStep } from '@mcp-saga/core';
import {
  engineVersion,
  isLargerThan,
  present,
  type ClientAnswer,
  sealedBytes,
} from '@mcp-saga/core/program';
import { fromBase64Url, toBase64Url, TokenRefused, type Claims, type Stream } from '@mcp-saga/seal';
import { asksOf } from '../wire/step-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { StepIds } from '../wire/step-answers.ts';
import type { GuardVerdict } from '../model/guard.ts';
import type { ResolvedLimits } from '../model/host-limits.ts';
import {
  atAnyTime,
  readSealedRecord,
  resumeTokenMethod,
  sealSagaAs,
  toSealedSaga,
} from './sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { SagaHostError, publicMessageOf } from '../wire/errors.ts';
import { openSealed } from './resolve-program.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';

/** Part of a request that another request needs to finish the turn. */
export interface RetryableRequest {
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** Capabilities of the dialect. */
  readonly dialect: DialectCapabilities;
  /** Capabilities that the client declared. Undefined if unknown. */
  readonly capabilities: Json | undefined;
  /** Time of receipt (ms since the epoch). */
  readonly at: number;
  /** `true` if the turn commits after each step. Absent: only where the engine must. */
  readonly commitsEachStep?: true | undefined;
  /**
   * `true` for a request that cancels the saga, or continues an abandoned saga. Absent: the request
   * resumes the saga.
   */
  readonly cancels?: true;
}

/** Part of a request that its size decides about. */
type UsableRequest = Pick<RetryableRequest, 'answers' | 'dialect' | 'capabilities'>;

/** Largest answers that fit into the record of a request together: 1 MiB by default. */
export const answersInRecord = 4;

/**
 * Keeps the part of a request needed to retry the turn: answers to its questions, within the limits
 * of answers. A guard keeps it for weeks, so a client must not choose its size.
 */
export function usableOf(
  { toWire }: Pick<StepIds, 'toWire'>,
  { answers: news, dialect, capabilities }: UsableRequest,
  { maxAnswerBytes }: Pick<ResolvedLimits, 'maxAnswerBytes'>,
): UsableRequest {
  const fits = (value: object | Json): boolean => !isLargerThan(maxAnswerBytes, value);
  const small = [...news].filter(([, answer]) =>
    fits('error' in answer ? answer.error : answer.result),
  );
  // A Durable Object stores 2 MB in one entry. Without the answers, a retry asks the user again.
  const usable = isLargerThan(answersInRecord * maxAnswerBytes, small) ? [] : small;
  const asks = dialect.asks ?? (capabilities === undefined ? undefined : asksOf(capabilities));
  return {
    answers: new Map(usable.map(([stepId, answer]) => [toWire(stepId), answer])),
    dialect: asks === undefined ? dialect : { ...dialect, asks },
    capabilities: capabilities !== undefined && fits(capabilities) ? capabilities : undefined,
  };
}

/**
 * Seals a request for the guard, until the turn is finished. `round` counts the requests of the
 * client.
 */
export async function sealRequest(
  host: Keeper,
  saga: SealedSaga,
  request: RetryableRequest,
  round: number,
): Promise<string> {
  return await sealRecord(host, saga, { begun: toKept(request, round) });
}

/**
 * Seals a start for the guard, until its turn is finished: the saga, whose ID and secret only the
 * first request has drawn, and the request.
 */
export async function sealStart(
  { keys }: Pick<HostParts, 'keys'>,
  saga: SealedSaga,
  request: RetryableRequest,
  round: number,
): Promise<string> {
  const bytes = JSON.stringify(toKept(request, round));
  return await sealSagaAs('start', keys.responses, saga, [{ bytes, compress: false }]);
}

/** Opens a start that the guard kept under the name of another one. */
export async function openStart(
  { keys, observer }: Pick<HostParts, 'keys' | 'observer'>,
  { claims }: SealedSaga,
  start: string,
): Promise<{ readonly saga: SealedSaga; readonly request: RetryableRequest }> {
  const engines = { min: 1, max: engineVersion };
  const expect = { purpose: 'start', engines, ...atAnyTime } as const;
  const sealed = await openSealed(observer, keys.responses, start, expect);
  const { turn, jti } = sealed.claims;
  if (turn !== claims.turn || jti !== claims.jti) throw new TokenRefused('used');
  const request = fromKept(readSealedRecord<KeptRequest>(sealed.streams[4], keptMembers));
  return { saga: toSealedSaga(sealed, 0), request };
}

/** Opens a request that the guard kept. */
export async function openRequest(
  host: Keeper,
  saga: SealedSaga,
  request: string,
): Promise<RetryableRequest> {
  const { begun } = (await openRecord(host, saga, request)) as { readonly begun?: KeptRequest };
  // A response.
  if (begun === undefined) throw new TokenRefused('used');
  return fromKept(begun);
}

let memorySecret: string | undefined;

/** Parts of a host for records. */
type Keeper = Pick<HostParts, 'keys' | 'guard'>;

/** Record of the guard: a request, or a response with the token that its client got. */
interface GuardRecord {
  readonly begun?: KeptRequest;
  readonly token?: string;
}

/** Least size of the JSON of a response that is compressed, in bytes. */
const compressResponseFrom = 128;

/** Characters above which a response is not compressed: that would block other requests for long. */
const compressResponseUpTo = 64 * 1024;

/**
 * Seals a record for the guard, as JSON: the codec would nest it deeper than it reads. A guard in
 * memory gets the text.
 *
 * Most of a store is tokens in records. So a token is sealed as bytes, since base64url in base64url
 * takes a third more, and without its header, which the record has, too. A response may be
 * compressed, because the client gets all of it.
 */
async function sealRecord(
  { keys, guard }: Keeper,
  saga: SealedSaga,
  record: GuardRecord,
): Promise<string> {
  const { token, ...others } = record;
  const json = JSON.stringify(others);
  const isCompressed = record.begun === undefined && json.length <= compressResponseUpTo;
  const compress = isCompressed && compressResponseFrom;
  if (guard?.isInMemory === true) return `${memoryPrefix(saga.claims)}${json}\n${token ?? ''}`;
  const claims = claimsOfRecord(saga.claims);
  const seal = async (...streams: readonly Stream[]): Promise<string> =>
    await keys.responses.seal('response', saga.sagaId, claims, streams);
  if (token === undefined) return await seal({ bytes: json, compress });
  const [header = '', ...parts] = token.split('.');
  const bytes = parts.map((part) => fromBase64Url(part));
  if (bytes.every((part) => part !== undefined)) {
    const sealed = await seal(
      { bytes: json, compress },
      ...bytes.map((part) => ({ bytes: part, compress: false })),
    );
    // Unless the key has changed since the token was sealed.
    if (headerOf(sealed) === header) return sealed;
  }
  return await seal({ bytes: JSON.stringify(record), compress });
}

/** Part of a token that names its key and its saga. */
function headerOf(token: string): string {
  return token.slice(0, token.indexOf('.'));
}

/**
 * Claims of a record. It is found by a saga, a turn, and a token that were checked before, so it
 * repeats none of the facts about the caller and the call.
 */
function claimsOfRecord({ turn, jti, born, iat, exp }: Claims): Claims {
  const entry = { target: '', argsDigest: '' };
  const saga = { name: '', version: '' };
  return { method: '', entry, saga, principal: null, engine: 1, turn, jti, born, iat, exp };
}

/**
 * Opens a record of the guard: of the token, or of a later `turn` of its saga. Throws TokenRefused,
 * with `used` for any other record.
 */
async function openRecord(
  { keys }: Keeper,
  { sagaId: sid, claims }: SealedSaga,
  record: string,
  turn: number = claims.turn,
): Promise<unknown> {
  const isRight = (of: Pick<Claims, 'turn' | 'jti'>): boolean =>
    of.turn === turn && (turn > claims.turn || of.jti === claims.jti);
  if (memorySecret !== undefined && record.startsWith(`${memorySecret} `)) {
    const [turnText = '', jti = ''] = record.slice(memorySecret.length + 1).split(' ', 2);
    if (!isRight({ turn: Number(turnText), jti })) throw new TokenRefused('used');
    const text = record.slice(memoryPrefix({ turn, jti }).length);
    const end = text.indexOf('\n');
    return withToken(JSON.parse(text.slice(0, end)) as object, text.slice(end + 1));
  }
  // The time of the token was checked.
  const sealed = await keys.responses.open(record, { purpose: 'response', sid, ...atAnyTime });
  if (!isRight(sealed.claims)) throw new TokenRefused('used');
  const [json, ...parts] = sealed.streams;
  const token = [headerOf(record), ...parts.map((part) => toBase64Url(part))].join('.');
  return withToken(readSealedRecord<object>(json, {}), parts.length > 0 ? token : '');
}

/** Adds the token of a response, if it has one. */
function withToken(record: object, token: string): object {
  return token === '' ? record : { ...record, token };
}

/** Prefix of an unsealed record: a secret of this process, so no other store can forge a record. */
function memoryPrefix({ turn, jti }: Pick<Claims, 'turn' | 'jti'>): string {
  return `${(memorySecret ??= crypto.randomUUID())} ${turn} ${jti} `;
}

/** A caller with the original client's capabilities. */
export function inPlaceOf(
  { capabilities }: Pick<RetryableRequest, 'capabilities'>,
  caller: Caller,
): Caller {
  const { capabilities: _own, ...rest } = caller;
  return capabilities === undefined ? rest : { ...rest, capabilities };
}

/** Capabilities of a dialect as JSON. */
type KeptCapabilities = Omit<DialectCapabilities, 'maxWait'> & {
  readonly maxWait: number | null | undefined;
};

type KeptRequest = Pick<RetryableRequest, 'capabilities' | 'at' | 'commitsEachStep' | 'cancels'> & {
  readonly traits: KeptCapabilities;
  readonly answers: readonly (readonly [stepId: string, answer: ClientAnswer])[];
};

const keptMembers = {
  answers: 'list',
  traits: 'record',
  capabilities: 'json?',
  at: 'number',
  commitsEachStep: 'boolean?',
  cancels: 'boolean?',
} as const;

function toKept(request: RetryableRequest, round: number): KeptRequest {
  const { answers, dialect, ...rest } = request;
  // The waiting time of the client decides how far the turn runs, also if another request repeats
  // the turn.
  const { maxWait, ...others } = dialect;
  return { answers: [...answers], traits: { maxWait: maxWait?.(round), ...others }, ...rest };
}

function fromKept({ answers, traits, ...rest }: KeptRequest): RetryableRequest {
  const { maxWait, ...others } = traits;
  const dialect = { ...others, ...(typeof maxWait === 'number' ? { maxWait: () => maxWait } : {}) };
  return { ...rest, answers: new Map(answers), dialect };
}

/**
 * Maximum size of a kept result, and of the kept questions of a turn, in bytes: half of a response.
 */
const maxKeptBytes: number = 32 * 1024 * 1024;

/**
 * Throws `invalid_result` for a response too large for a guard. Call before effects: each
 * repetition would run them again.
 */
export function assertKeepable(what: string, value: object | string): void {
  if (!isLargerThan(maxKeptBytes, value)) return;
  const message = `${what} more than the ${maxKeptBytes} bytes that a guard keeps`;
  throw new SagaHostError('invalid_result', message, { public: false });
}

/**
 * Seals the response of a turn for the guard. `isCommitted`: the host continues the saga, and no
 * client gets the token.
 */
export async function sealResponse(
  host: Keeper,
  saga: SealedSaga,
  turn: SagaTurn,
  isCommitted: boolean = false,
): Promise<string> {
  const record: GuardRecord = isCommitted ? { goesOn: 'commit', ...turn } : keptOf(turn);
  return await sealRecord(host, saga, record);
}

/** Kept part of a response. Large questions are rendered again from the token. */
function keptOf(turn: SagaTurn): object {
  if (turn.status === 'failed') return { ...turn, error: publicMessageOf(turn.saga, turn.error) };
  if (
    turn.status === 'completed' ||
    questionBytes(turn) <= Math.max(smallQuestions, turn.token.length)
  )
    return turn;
  const { steps, content: _content, ...rest } = turn;
  const asked = steps.map(({ stepId, reason }) => ({ stepId, ...present({ reason }) }));
  return { ...rest, asked } satisfies UnrenderedTurn;
}

/**
 * Opens a response that the guard kept for a token, or for a later turn of its saga. An error has
 * only the public message.
 */
export async function openResponse(
  host: Keeper,
  saga: SealedSaga,
  {
    response,
    turn: ofTurn,
  }: Pick<Extract<GuardVerdict, { response: unknown }>, 'response' | 'turn'>,
): Promise<KeptResponse> {
  const kept = (await openRecord(host, saga, response, ofTurn)) as KeptTurn;
  // A request.
  if (!('status' in kept)) throw new TokenRefused('used');
  if (kept.status === 'failed')
    return { turn: { ...kept, error: new SagaError(String(kept.error)) }, isCommitted: false };
  if (kept.goesOn === undefined) return { turn: kept, isCommitted: false };
  const { goesOn: _, ...turn } = kept;
  return { turn: turn as SuspendedTurn, isCommitted: true };
}

/** Kept response. */
export type KeptResponse =
  | { readonly turn: SagaTurn | UnrenderedTurn; readonly isCommitted: false }
  | { readonly turn: SuspendedTurn; readonly isCommitted: true };

type KeptTurn = (SagaTurn | UnrenderedTurn) & { readonly goesOn?: 'commit' };

/** Suspended turn without questions, which the token renders again. */
export interface UnrenderedTurn extends Omit<SuspendedTurn, 'steps' | 'content'> {
  readonly asked: readonly Pick<ClientStep, 'stepId' | 'reason'>[];
}

/** Questions up to this size, in bytes, are always kept. */
const smallQuestions = 1024;

/** Size of a sealed response without token and questions, in bytes. */
const responseOverhead = 430;

/** Size of the entry of a turn whose response was forgotten, in bytes. */
const headBytes = 250;

/** Time between the expiry of a token and of its response, in milliseconds. */
const margin = 5 * 60_000;

function questionBytes({ steps, content = [] }: Pick<SuspendedTurn, 'steps' | 'content'>): number {
  return JSON.stringify([steps, content]).length;
}

/** Parts of a host that say what it stores of a saga, and for how long. */
type Keeping = Pick<HostParts, 'timing' | 'limits' | 'offers'>;

/**
 * Estimates the size of all that is stored of a saga for its client, in bytes, from its token: the
 * last two responses in the guard with the heads of the others, and the states of handles. Decays
 * as they expire.
 */
export function keptBytesOf(
  { timing: { clock }, limits: { tokenTtl }, offers }: Keeping,
  { claims, state, tokenBytes }: SealedSaga,
): number {
  if (state.keptBytes === undefined) return 0;
  // A response holds the token that the client got, and so does the state of a handle.
  const copies = hasHandles(offers, claims) ? 2 : 1;
  const age = Math.max(0, clock() - claims.iat);
  return Math.ceil((state.keptBytes + copies * tokenBytes) * Math.exp(-age / (tokenTtl + margin)));
}

/** Number for the next token to carry: the estimate without the length of the next token. */
export function nextKeptBytes(
  host: Keeping,
  saga: SealedSaga,
  asked: Pick<SuspendedTurn, 'steps' | 'content'>,
): number {
  const { claims, tokenBytes } = saga;
  const questions = Math.min(questionBytes(asked), Math.max(smallQuestions, tokenBytes));
  const own = sealedBytes(questions) + responseOverhead;
  const earlier = keptBytesOf(host, saga);
  // The states of handles stay until they expire, and so do pages.
  if (hasHandles(host.offers, claims) || saga.state.hasPages === true) return earlier + own;
  const lastResponse = tokenBytes + sealedBytes(smallQuestions) + responseOverhead;
  return Math.min(earlier, claims.turn * headBytes + lastResponse) + own;
}

/** `true` if the client of a saga gets handles, whose states are stored. */
function hasHandles({ handles }: HostParts['offers'], { method }: Pick<Claims, 'method'>): boolean {
  return handles !== undefined && method === resumeTokenMethod;
}
