import { SagaError, type ClientStep } from '@mcp-saga/core';
import { isLargerThan, present } from '@mcp-saga/core/program';
import { TokenRefused, type Sealer } from '@mcp-saga/seal';
import { SagaHostError } from '../wire/errors.ts';
import { isRenderedAgain } from './response-bytes.ts';
import { publicMessageOf } from '../wire/public-message.ts';
import { readSealedJson } from './sealed-json.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

/** Bytes that a result or the questions of a turn may have for a guard to keep them: half of what a response may. */
export const maxKeptBytes: number = 32 * 1024 * 1024;

/**
 * Refuses what a guard could not keep, while it can still be undone: a response that is not kept is made again by each
 * repeated request, effects included. (T13)
 *
 * @throws SagaHostError `invalid_result`
 */
export function assertKeepable(what: string, value: object | string): void {
  if (!isLargerThan(maxKeptBytes, value)) return;
  const message = `${what} more than the ${maxKeptBytes} bytes that a guard keeps`;
  throw new SagaHostError('invalid_result', message, { public: false });
}

/**
 * Seals the response of a turn for the guard, which can read none of it.
 *
 * @param isCommitted - `true` if the host continues from this turn, and no client gets its token
 */
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
  if (turn.status === 'completed' || !isRenderedAgain(turn)) return turn;
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
