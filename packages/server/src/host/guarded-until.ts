import type { Claims } from '@mcp-saga/seal';
import { cancelLifetime } from './cancel-token.ts';
import type { HostSettings } from './host-options.ts';

// The skew that tokens are granted on both sides, the minute by which one that cancels follows, and what the clocks of
// a fleet and of its store may differ by.
const margin = 5 * 60_000;

/**
 * When the guard may forget that a token was used (ms since the epoch): when it has died, and the token that cancels
 * its turn in its place, if there is one. When a saga ends does not matter: its tokens die by themselves. (T13)
 */
export function guardedUntil(
  { notifiesSuspended }: Pick<HostSettings, 'notifiesSuspended'>,
  { exp }: Pick<Claims, 'exp'>,
): number {
  return exp + (notifiesSuspended ? cancelLifetime : 0) + margin;
}

/** When the guard may forget the response to a token (ms since the epoch): nothing but the token asks for it. (T13) */
export function respondsUntil({ exp }: Pick<Claims, 'exp'>): number {
  return exp + margin;
}

/**
 * When the guard may forget which steps of a saga were claimed (ms since the epoch): not before every token of it has
 * died. Where forks are accepted, an older one may be good for longer than the newest. (T13)
 */
export function claimedUntil(
  { maxLifetime, notifiesSuspended }: Pick<HostSettings, 'maxLifetime' | 'notifiesSuspended'>,
  { born }: Pick<Claims, 'born'>,
): number {
  return born + maxLifetime + (notifiesSuspended ? cancelLifetime : 0) + margin;
}
