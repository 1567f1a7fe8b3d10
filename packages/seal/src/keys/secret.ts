import type { MaybePromise } from '../model/maybe-promise.ts';
import { hmac, lengthPrefix } from '../digest/hash.ts';

/** The one secret of a saga: 32 random bytes, sealed into its tokens, never shown. */
export function createSecret(): Uint8Array {
  return randomBytes(32);
}

/**
 * 32 bytes that only this secret, label and parts give, so that the same step has the same idempotency key on every
 * fork and across key rotation: HMAC-SHA256 over `label` and `parts`, each length-prefixed.
 *
 * @throws TypeError for a secret that is not 32 bytes long.
 */
export function deriveFromSecret(
  secret: Uint8Array,
  label: string,
  parts: readonly string[],
): MaybePromise<Uint8Array> {
  if (secret.length !== 32) throw new TypeError('The secret of a saga has 32 bytes');
  return hmac(secret, lengthPrefix([label, ...parts]));
}

/** Random bytes from the platform's generator; never pooled, for a snapshot of the process would repeat a pool. */
export function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
