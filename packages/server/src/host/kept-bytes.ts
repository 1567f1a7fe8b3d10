import type { HostSettings } from './host-options.ts';
import type { SealedSaga } from './sealed-saga.ts';
import type { SuspendedTurn } from './turn.ts';

/** Questions of up to this many bytes are kept as they are, however short their token is. */
const smallQuestions = 1024;

/** Bytes of a sealed response besides its token and its questions. */
const responseOverhead = 600;

/** How long a guard keeps a response beyond the life of its token, in milliseconds. */
const margin = 5 * 60_000;

/**
 * Returns `true` if a guard does not keep the questions of a turn, because they are larger than the token from which
 * they can be rendered again. A client could otherwise fill the guard with short tokens that ask long questions.
 */
export function isRenderedAgain(turn: Pick<SuspendedTurn, 'token' | 'steps' | 'content'>): boolean {
  return questionBytes(turn) > Math.max(smallQuestions, turn.token.length);
}

function questionBytes({ steps, content = [] }: Pick<SuspendedTurn, 'steps' | 'content'>): number {
  return JSON.stringify([steps, content]).length;
}

/**
 * Estimates the bytes of responses that the guard keeps of a saga when its newest token is opened. The token carries the
 * number, so the guard is not asked. Responses expire, so the number decays by the life of a token.
 *
 * @param tokenBytes - length of the token, which is a part of the newest response
 */
export function keptBytesOf(
  { clock, tokenTtl }: Pick<HostSettings, 'clock' | 'tokenTtl'>,
  { claims, state }: SealedSaga,
  tokenBytes: number,
): number {
  if (state.keptBytes === undefined) return 0;
  const age = Math.max(0, clock() - claims.iat);
  return Math.ceil((state.keptBytes + sealedBytes(tokenBytes)) * Math.exp(-age / (tokenTtl + margin)));
}

/** The same for the next token, without the length of that token. */
export function nextKeptBytes(
  settings: Pick<HostSettings, 'clock' | 'tokenTtl'>,
  saga: SealedSaga,
  tokenBytes: number,
  asked: Pick<SuspendedTurn, 'steps' | 'content'>,
): number {
  const questions = Math.min(questionBytes(asked), Math.max(smallQuestions, tokenBytes));
  return keptBytesOf(settings, saga, tokenBytes) + sealedBytes(questions) + responseOverhead;
}

/** Sealing makes four characters of three bytes. */
function sealedBytes(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
