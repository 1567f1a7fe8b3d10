import type { Claims } from '@mcp-saga/seal';
import { cancelLifetime } from './cancel-token.ts';
import type { HostSettings } from './host-options.ts';

// The skew that tokens are granted on both sides, and a minute more.
const margin = 3 * 60_000;

/**
 * When the guard may forget what it knows of a saga (ms since the epoch): not before every token of it has died, those
 * that cancel it included. (T13)
 */
export function guardedUntil(
  { maxLifetime, notifiesSuspended }: Pick<HostSettings, 'maxLifetime' | 'notifiesSuspended'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetime + (notifiesSuspended ? cancelLifetime : 0) + margin;
}
