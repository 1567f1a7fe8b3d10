import { digestText } from '@mcp-saga/seal';
import type { HostParts } from '../settings/host-parts.ts';
import { sealSaga, toSealedSaga } from './sealed-saga.ts';
import type { SuspendedTurn } from '../model/turn.ts';

/** Digests a JSON-RPC ID of any length to 96 bits, for a token. `1` and `"1"` are different IDs. */
export async function digestRequestId(id: string | number): Promise<string> {
  return (await digestText(JSON.stringify(id))).slice(0, 16);
}

/**
 * Seals the token of a turn for the request that reports it. A guard may have kept the turn for a request with another ID,
 * and the client resumes the request that it waits for.
 */
export async function bindToRequest(
  { keys: { sealer } }: Pick<HostParts, 'keys'>,
  turn: SuspendedTurn,
  id: string | number,
): Promise<SuspendedTurn> {
  const opened = await sealer.open(turn.token, { purpose: 'token', ignoreExpiry: true, allowFuture: true });
  const saga = toSealedSaga(opened);
  const requestId = await digestRequestId(id);
  if (saga.state.isResumable === true && saga.state.requestId === requestId) return turn;
  const state = { ...saga.state, isResumable: true, requestId };
  return { ...turn, token: await sealSaga(sealer, { ...saga, state }) };
}
