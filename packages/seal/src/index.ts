/**
 * The token of a saga: its keys, what is sealed in it, and how it is sealed, opened and refused.
 */
export { digestArguments } from './digest/digest-arguments.ts';
export type { MaybePromise } from './model/maybe-promise.ts';
export { fromBase64Url, toBase64Url } from './platform/base64url.ts';
export { canonicalize, type CanonicalizeOptions } from './digest/canonicalize.ts';
export type { Binding, Claims, Purpose } from './token/claims.ts';
export {
  refusalMessage,
  SealError,
  TokenRefused,
  TokenTooLarge,
  type OversizedPart,
  type RefusalReason,
  type SealErrorCode,
} from './model/errors.ts';
export { hasBegun, skewMs } from './sealer/sealer-setup.ts';
export { digestText } from './digest/hash.ts';
export type { KeyInput, KeysOption, OctJwk } from './keys/key-input.ts';
export { createKeyRing, generateKey, type KeyRing, type KeyRingOptions } from './keys/key-ring.ts';
export { deriveTokenKey } from './keys/key-schedule.ts';
export { defaultLimits, type Limits } from './token/token-limits.ts';
export { createSealer } from './sealer/create-sealer.ts';
export type { Expectations, Sealed, Sealer, SealerOptions } from './sealer/sealer.ts';
export { createSecret, createTokenId, deriveFromSecret } from './digest/hash.ts';
export type { StoredStream, Stream } from './token/layout.ts';
export { publishedTestKeys } from './keys/key-input.ts';
