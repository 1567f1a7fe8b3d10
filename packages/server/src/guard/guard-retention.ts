import type { Claims } from '@mcp-saga/seal';
import { cancelLifetime } from '../token/cancel-token.ts';
import type { HostSettings } from '../settings/host-parts.ts';

// The skew that tokens are granted on both sides, the minute by which one that cancels follows, and what the clocks of
// a fleet and of its store may differ by.
const margin = 5 * 60_000;

/**
 * When the guard may forget that a token was used (ms since the epoch): when it has died, and the token that cancels
 * its turn in its place, if there is one. When a saga ends does not matter: its tokens die by themselves. (T13)
 */
export function guardedUntil(settings: GuardedBy, claims: Pick<Claims, 'exp'>): number {
  return wantedUntil(settings, claims) + (settings.notifiesSuspended ? cancelLifetime : 0) + margin;
}

/** When the guard may forget the response to a token (ms since the epoch): nothing but the token asks for it. (T13) */
export function respondsUntil(settings: GuardedBy, claims: Pick<Claims, 'exp'>): number {
  return wantedUntil(settings, claims) + margin;
}

type GuardedBy = Pick<HostSettings, 'notifiesSuspended' | 'clock' | 'leaseMs'>;

/** A turn may run for longer than its token is good; one that the host takes by itself may begin when it is dead. */
function wantedUntil({ clock, leaseMs }: GuardedBy, { exp }: Pick<Claims, 'exp'>): number {
  return Math.max(exp, Math.ceil(clock() + leaseMs));
}

/** Returns `true` if the guard was restarted after `time` (ms since the epoch), and forgot what was used until then. */
export function isForgotten({ guard, clock }: Pick<HostSettings, 'guard' | 'clock'>, time: number): boolean {
  return time < (guard?.remembersSince?.(clock()) ?? 0);
}

/**
 * When the guard may forget which steps of a saga were claimed (ms since the epoch): not before every token of it has
 * died. Where forks are accepted, an older one may be good for longer than the newest; to undo, one of them may be good for
 * longer than a saga may take. (T13)
 */
export function claimedUntil(
  { maxLifetime, notifiesSuspended }: Pick<HostSettings, 'maxLifetime' | 'notifiesSuspended'>,
  { born, exp }: Pick<Claims, 'born' | 'exp'>,
): number {
  return Math.max(born + maxLifetime, exp) + (notifiesSuspended ? cancelLifetime : 0) + margin;
}
