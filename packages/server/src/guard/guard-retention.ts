import type { Claims } from '@mcp-saga/seal';
import { cancelLifetime } from '../token/cancel-token.ts';
import type { HostParts } from '../settings/host-parts.ts';

// The skew that tokens are granted on both sides, the minute by which one that cancels follows, and what the clocks of
// a fleet and of its store may differ by.
const margin = 5 * 60_000;

/**
 * When the guard may forget that a token was used (ms since the epoch): when it has died, and the token that cancels
 * its turn in its place, if there is one. When a saga ends does not matter: its tokens die by themselves. (T13)
 */
export function guardedUntil(host: GuardedBy, claims: Pick<Claims, 'exp'>): number {
  return wantedUntil(host, claims) + (host.observer.notifiesSuspended ? cancelLifetime : 0) + margin;
}

/** When the guard may forget the response to a token (ms since the epoch): nothing but the token asks for it. (T13) */
export function respondsUntil(host: GuardedBy, claims: Pick<Claims, 'exp'>): number {
  return wantedUntil(host, claims) + margin;
}

type GuardedBy = Pick<HostParts, 'observer' | 'timing'>;

/** A turn may run for longer than its token is good; one that the host takes by itself may begin when it is dead. */
function wantedUntil({ timing: { clock, leaseMs } }: GuardedBy, { exp }: Pick<Claims, 'exp'>): number {
  return Math.max(exp, Math.ceil(clock() + leaseMs));
}

/** Returns `true` if the guard was restarted after `time` (ms since the epoch), and forgot what was used until then. */
export function isForgotten({ guard, timing }: Pick<HostParts, 'guard' | 'timing'>, time: number): boolean {
  return time < (guard?.store.remembersSince?.(timing.clock()) ?? 0);
}

/**
 * When the guard may forget which steps of a saga were claimed (ms since the epoch): not before every token of it has
 * died. Where forks are accepted, an older one may be good for longer than the newest; to undo, one of them may be good for
 * longer than a saga may take. (T13)
 */
export function claimedUntil(
  { limits, observer }: Pick<HostParts, 'limits' | 'observer'>,
  { born, exp }: Pick<Claims, 'born' | 'exp'>,
): number {
  return (
    Math.max(born + limits.maxLifetimeMs, exp) + (observer.notifiesSuspended ? cancelLifetime : 0) + margin
  );
}
