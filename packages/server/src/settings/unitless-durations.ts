import { unitAdvice } from '@mcp-saga/core/shared';
import type { SagaHostOptions } from '../model/host-options.ts';
import { isKeySource } from './host-keys.ts';

/** A person may answer after days: 604 800 is a week in seconds, and ten minutes in milliseconds. */
const shortestLife = 900_000;

/**
 * Returns a warning for each duration that has no unit, and is short for its purpose: whoever writes
 * `tokenTtl: 3600` most likely means seconds.
 */
export function warningsOfUnits({ limits = {}, keys }: SagaHostOptions): readonly string[] {
  const { tokenTtl, maxLifetime, turnBudget, maxHold, lease, hookTimeout } = limits;
  return [
    unitAdvice('limits.tokenTtl', tokenTtl, shortestLife),
    unitAdvice('limits.maxLifetime', maxLifetime, shortestLife),
    unitAdvice('limits.turnBudget', turnBudget),
    unitAdvice('limits.maxHold', maxHold),
    unitAdvice('limits.lease', lease),
    unitAdvice('limits.hookTimeout', hookTimeout),
    unitAdvice('keys.refresh', isKeySource(keys) ? keys.refresh : undefined),
  ].flatMap((warning) => warning ?? []);
}
