import { deriveFromSecret, digestText, skewMs, toBase64Url, TokenRefused } from '@mcp-saga/seal';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { chargeFor } from './charge-for.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { keptBytesOf } from './guard-records.ts';
import { sealSagaAs } from './sealed-saga.ts';
import { readSealed, writeSealed } from '../store/sealed-values.ts';
import { sagaOf } from './saga-of-turn.ts';
import type { SuspendedTurn } from '../model/turn.ts';

/** The sealed state of a saga: a token, or the entry of a handle. */
export interface SealedToken {
  readonly token: string;
  readonly purpose: 'token' | 'handle';
}

/** Form of a handle: 128 bits in base64url, made of a random secret. Tokens have dots. */
const handleForm = /^[\w-]{22}$/;

/**
 * Stores the state of a turn and returns a handle. Returns the token itself if the store fails, or
 * keeps too much for the saga or its principal.
 *
 * A state has one handle, made of the secret of its saga: a turn that changes nothing, and a
 * request that is repeated, store nothing.
 */
export async function toHandle(host: HostParts, turn: SuspendedTurn): Promise<string> {
  const { token } = turn;
  const { handles } = host.offers;
  const { sealer } = host.keys;
  const { hooks, reject } = host.observer;
  if (handles === undefined) return token;
  try {
    const saga = await sagaOf(host, turn);
    const { claims } = saga;
    if (keptBytesOf(host, saga) >= host.limits.maxKeptBytesPerSaga) {
      reject('guard_full');
      return token;
    }
    const handle = await handleOf(saga);
    // Sealed for another purpose than a token: clients cannot use a copy of the store.
    const entry = await sealSagaAs('handle', sealer, saga);
    const charge = await chargeFor(host, claims);
    const id = await entryOf(handle);
    const expiresAtMs = claims.exp + skewMs;
    const status = await writeSealed(handles, 'handle', id, entry, 0, { expiresAtMs, charge });
    if (status === 'full') reject('guard_full');
    return status === 'full' ? token : handle;
  } catch (error) {
    hooks.onError(error);
    return token;
  }
}

/** The handle of a state. The ID of the token alone would not do: a guard knows it. */
async function handleOf({ claims: { jti, method }, state }: SealedSaga): Promise<string> {
  const bytes = await deriveFromSecret(state.secret, 'handle', [jti, method ?? '']);
  return toBase64Url(bytes.subarray(0, 16));
}

/**
 * Looks up the state of a handle, or returns a token unchanged. Throws TokenRefused, or
 * `store_down` if the store fails.
 */
export async function fromHandle(
  { offers: { handles }, observer: { hooks } }: HostParts,
  sent: string,
): Promise<SealedToken> {
  if (handles === undefined || !handleForm.test(sent)) return { token: sent, purpose: 'token' };
  const id = await entryOf(sent);
  try {
    const stored = await readSealed(handles, 'handle', id);
    if (stored !== undefined) return { token: stored.sealed, purpose: 'handle' };
  } catch (error) {
    hooks.onError(error);
    const message = 'The server cannot continue the call now. Send the request again later.';
    throw new SagaHostError('store_down', message, { cause: error });
  }
  throw new TokenRefused('unknown_handle');
}

/** ID of an entry: a digest, so a copy of the store contains no handle. */
async function entryOf(handle: string): Promise<string> {
  return await digestText(`handle:${handle}`);
}
