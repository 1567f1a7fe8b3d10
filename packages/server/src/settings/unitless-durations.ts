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
  const durations = {
    'limits.tokenTtl': tokenTtl,
    'limits.maxLifetime': maxLifetime,
    'limits.turnBudget': turnBudget,
    'limits.maxHold': maxHold,
    'limits.lease': lease,
    'limits.hookTimeout': hookTimeout,
    'keys.refresh': isKeySource(keys) ? keys.refresh : undefined,
  };
  return Object.entries(durations).flatMap(([name, value]) => {
    const usual = /Ttl|Lifetime/.test(name) ? shortestLife : undefined;
    return unitAdvice(name, value, usual) ?? [];
  });
}
