import { fingerprint, hasLong, isWhole, wholeFingerprint } from '../values/fingerprint.ts';
import { effectOf, type EffectSpec } from './effect-of.ts';

const nothing: readonly unknown[] = [];

/** Fingerprint of what a command asks of the user, the model, or the world. */
export function fingerprintOf(spec: EffectSpec): number {
  const effect = effectOf(spec);
  if (effect.fingerprint !== undefined) return effect.fingerprint(spec);
  const request = effect.request?.(spec) ?? nothing;
  const added = effect.newRequest?.(spec);
  if (added !== undefined || request.some(hasLong)) return wholeFingerprint(...request, added);
  return toFingerprint(request);
}

/** `true` if a recorded fingerprint fits a command, also if an older release recorded it. */
export function isFingerprintOf(recorded: number, asked: number, spec: EffectSpec): boolean {
  if (recorded === asked) return true;
  if (!isWhole(asked) || isWhole(recorded)) return false;
  return recorded === toFingerprint(effectOf(spec).request?.(spec) ?? nothing);
}

/** Older releases skipped the middle of long strings. */
function toFingerprint(request: readonly unknown[]): number {
  return request.length === 0 ? 0 : fingerprint(...request);
}
