import { fingerprint, hasLong, isWhole, wholeFingerprint } from '../values/fingerprint.ts';
import { effectOf, type EffectSpec } from './effect-of.ts';

/** Fingerprint of what a command asks of the user, the model, or the world. */
export function fingerprintOf(spec: EffectSpec): number {
  const effect = effectOf(spec);
  if (effect.fingerprint !== undefined) return effect.fingerprint(spec);
  const request = effect.request?.(spec) ?? [];
  const added = effect.newRequest?.(spec);
  if (added === undefined && !request.some(hasLong)) return olderFingerprint(spec, request);
  return request.length === 0 ? wholeFingerprint(added) : wholeFingerprint(spec.kind, ...request, added);
}

/** `true` if a recorded fingerprint fits a command, also if an older release recorded it. */
export function isFingerprintOf(recorded: number, asked: number, spec: EffectSpec): boolean {
  if (recorded === asked) return true;
  if (!isWhole(asked) || isWhole(recorded)) return false;
  return recorded === olderFingerprint(spec, effectOf(spec).request?.(spec) ?? []);
}

/** Older releases skipped the middle of long strings. */
function olderFingerprint({ kind }: EffectSpec, request: readonly unknown[]): number {
  return request.length === 0 ? 0 : fingerprint(kind, ...request);
}
