import { createTokenId, digestText, skewMs, TokenRefused } from '@mcp-saga/seal';
import { SagaHostError } from '../wire/errors.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { atAnyTime, sealSagaAs, toSealedSaga } from './sealed-saga.ts';

/** The sealed state of a saga: a token, or the entry of a handle. */
export interface SealedToken {
  readonly token: string;
  readonly purpose: 'token' | 'handle';
}

/** Form of a handle: 128 random bits in base64url. Tokens have dots. */
const handleForm = /^[\w-]{22}$/;

/** Stores the state of a token and returns a handle. Returns the token if no store works. */
export async function toHandle(host: HostParts, token: string): Promise<string> {
  const { handles } = host.offers;
  const { sealer } = host.keys;
  const { hooks } = host.observer;
  if (handles === undefined) return token;
  try {
    const sealed = await sealer.open(token, { purpose: 'token', ...atAnyTime });
    // Sealed for another purpose than a token: clients cannot use a copy of the store.
    const entry = await sealSagaAs('handle', sealer, toSealedSaga(sealed));
    const handle = createTokenId();
    const isKept = await handles.store.write(
      await entryOf(handle),
      entry,
      0,
      sealed.claims.exp + skewMs,
    );
    return isKept ? handle : token;
  } catch (error) {
    hooks.onError(error);
    return token;
  }
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
    const stored = await handles.store.read(id);
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
