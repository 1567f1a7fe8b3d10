import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { found, type OpenSaga } from './resolve-program.ts';
import { atAnyTime, digestRequestId, sealSaga, toSealedSaga } from './sealed-saga.ts';

/** A token of a turn, perhaps without the rest of the turn. */
export type TokenOfTurn = Pick<SuspendedTurn, 'token' | 'sagaId'>;

/** What the tokens of turns hold, for as long as this process holds the turns. */
const sagas = new WeakMap<TokenOfTurn, SealedSaga>();

/** Notes what the token of a turn holds. Returns the turn. */
export function noteSaga<T extends TokenOfTurn>(turn: T, saga: SealedSaga): T {
  sagas.set(turn, saga);
  return turn;
}

/**
 * Returns what the token of a turn holds. Inside a host, a saga is a value: its token is opened
 * only if another process has sealed it, and once. No client has the token here, so neither its
 * time nor its size is checked.
 */
export async function sagaOf(
  { keys }: Pick<HostParts, 'keys'>,
  turn: TokenOfTurn,
): Promise<SealedSaga> {
  const known = sagas.get(turn);
  if (known !== undefined) return known;
  const expect = { purpose: 'token', sid: turn.sagaId, ...atAnyTime } as const;
  const sealed = await keys.responses.open(turn.token, expect);
  const saga = toSealedSaga(sealed, turn.token.length);
  noteSaga(turn, saga);
  return saga;
}

/** Returns the saga of a turn with its code. Throws as `found` does. */
export async function openTurn(host: HostParts, turn: TokenOfTurn): Promise<OpenSaga> {
  return found(host, await sagaOf(host, turn));
}

/** Returns a turn with other fields, but the same token. */
export async function changedTurn(
  host: Pick<HostParts, 'keys'>,
  turn: SuspendedTurn,
  change: Partial<Omit<SuspendedTurn, 'token' | 'status' | 'sagaId'>>,
): Promise<SuspendedTurn> {
  return noteSaga({ ...turn, ...change }, await sagaOf(host, turn));
}

/** Returns a turn whose token continues with another method. The same turn if it does already. */
export async function turnFor(
  host: Pick<HostParts, 'keys'>,
  method: string,
  turn: SuspendedTurn,
): Promise<SuspendedTurn> {
  const saga = await sagaOf(host, turn);
  if (saga.claims.method === method) return turn;
  return await resealed(host, turn, { ...saga, claims: { ...saga.claims, method } });
}

/**
 * Returns a turn whose token is bound to the ID of a request. A guard may have kept the turn for
 * another request.
 */
export async function bindToRequest(
  host: Pick<HostParts, 'keys'>,
  turn: SuspendedTurn,
  id: string | number,
): Promise<SuspendedTurn> {
  const saga = await sagaOf(host, turn);
  const requestId = await digestRequestId(id);
  if (saga.state.requestId === requestId) return turn;
  return await resealed(host, turn, { ...saga, state: { ...saga.state, requestId } });
}

async function resealed(
  { keys: { sealer } }: Pick<HostParts, 'keys'>,
  turn: SuspendedTurn,
  saga: SealedSaga,
): Promise<SuspendedTurn> {
  const token = await sealSaga(sealer, saga);
  return noteSaga({ ...turn, token }, { ...saga, tokenBytes: token.length });
}
