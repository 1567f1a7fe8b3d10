import type { HostParts } from '../settings/host-parts.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SuspendedTurn } from '../model/turn.ts';

/** Questions up to this size, in bytes, are always kept. */
const smallQuestions = 1024;

/** Size of a sealed response without token and questions, in bytes. */
const responseOverhead = 600;

/** Time for which a guard keeps a response after its token has expired, in milliseconds. */
const margin = 5 * 60_000;

/**
 * Returns `true` if the questions of a turn are larger than its token. A guard then keeps the token alone, which renders the
 * questions again. Otherwise a client could fill the guard with short tokens of long questions.
 */
export function isRenderedAgain(turn: Pick<SuspendedTurn, 'token' | 'steps' | 'content'>): boolean {
  return questionBytes(turn) > Math.max(smallQuestions, turn.token.length);
}

function questionBytes({ steps, content = [] }: Pick<SuspendedTurn, 'steps' | 'content'>): number {
  return JSON.stringify([steps, content]).length;
}

/**
 * Estimates the size of all responses of a saga in the guard, in bytes. The token carries the number, so the guard is not
 * asked. Responses expire, so the number decays with the age of the token.
 *
 * @param tokenBytes - length of the newest token, a part of the newest response
 */
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
