/** The token of a saga: its keys, what is sealed in it, and how it is sealed, opened and refused. */
export { digestArguments } from './arguments.ts';
export type { Awaitable } from './awaitable.ts';
export { fromBase64Url, toBase64Url } from './base64url.ts';
export { canonicalize, type CanonicalizeOptions } from './canonicalize.ts';
export type { Binding, Claims, Purpose } from './claims.ts';
export {
  refusalMessage,
  SealError,
  TokenRefused,
  TokenTooLarge,
  type OversizedPart,
  type RefusalReason,
  type SealErrorCode,
} from './errors.ts';
export { hasBegun, skewMs, type Expectations } from './expectations.ts';
export { digestText } from './hash.ts';
export type { KeyInput, KeysOption, OctJwk } from './key-input.ts';
export { createKeyRing, generateKey, type KeyRing, type KeyRingOptions } from './key-ring.ts';
export { deriveTokenKey } from './key-schedule.ts';
export { defaultLimits, type Limits } from './limits.ts';
export { createSealer } from './create-sealer.ts';
export type { Sealed, Sealer, SealerOptions } from './sealer.ts';
export { createSecret, deriveFromSecret } from './secret.ts';
export type { Stream } from './streams.ts';
export { publishedTestKeys } from './test-keys.ts';
