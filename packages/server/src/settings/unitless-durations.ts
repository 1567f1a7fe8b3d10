import { unitAdvice } from '@mcp-saga/core/shared';
import type { SagaHostOptions } from '../model/host-options.ts';
import { isKeySource } from './host-keys.ts';

/**
 * Returns a warning for each duration below a second that has no unit: whoever writes
 * `tokenTtl: 30` most likely means seconds.
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
  return Object.entries(durations).flatMap(([name, value]) => unitAdvice(name, value) ?? []);
}
