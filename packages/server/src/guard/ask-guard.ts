import { outline } from '../settings/default-log.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { Observer, HostParts } from '../settings/host-parts.ts';
import type { ClientAnswer } from '@mcp-saga/core/program';
import { canonicalize, digestText, type Claims } from '@mcp-saga/seal';
import { sealRequest, type BegunRequest } from '../token/guard-records.ts';
import type { GuardClaim } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { cancelLifetime } from '../token/sealed-saga.ts';

/** Asks the guard. Throws `guard_down`, and reports it to `onError` with the cause: an error of Redis does not name the guard. */
export async function askGuard<T>({ hooks }: Pick<Observer, 'hooks'>, ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    hooks.onError(
      new SagaHostError('guard_down', `The guard cannot be asked: ${outline(error)}`, {
        cause: error,
        public: false,
      }),
    );
    throw new SagaHostError(
      'guard_down',
      'The server cannot go on with this call now. Send it again later.',
      { cause: error },
    );
  }
}

/** Names the principal of a turn for the guard, by a digest. Anonymous turns are not counted: they would share one limit. */
async function ownerOf(
  { limits }: Pick<HostParts, 'limits'>,
  { claims: { principal } }: SealedSaga,
  { keptBytes }: { readonly keptBytes?: number },
): Promise<Pick<GuardClaim, 'owner'>> {
  if (principal === null) return {};
  const maxBytes = keptBytes === undefined ? Number.MAX_SAFE_INTEGER : limits.maxKeptBytesPerPrincipal;
  return { owner: { id: await digestText(principal), maxBytes } };
}

/** Makes the error of a turn beyond a limit of the guard. The token of the turn stays good. */
export function guardFull({ reject }: Pick<Observer, 'reject'>): SagaHostError {
  reject('guard_full');
  return new SagaHostError(
    'guard_full',
    'The server keeps too much for this caller now. Send it again later.',
  );
}

// The skew that tokens are granted on both sides, the minute by which one that cancels follows, and what the clocks of
// a fleet and of its store may differ by.
const margin = 5 * 60_000;

/** Time at which the guard may forget a used token (ms since the epoch): when it and its cancel token have expired. */
function guardedUntil(host: GuardedBy, claims: Pick<Claims, 'exp'>): number {
  return wantedUntil(host, claims) + (host.observer.notifiesSuspended ? cancelLifetime : 0) + margin;
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
 * Time at which the guard may forget the claimed steps of a saga (ms since the epoch): when all its tokens have expired. Older
 * tokens, and tokens to undo, may expire later than the newest.
 */
export function claimedUntil(
  { limits, observer }: Pick<HostParts, 'limits' | 'observer'>,
  { born, exp }: Pick<Claims, 'born' | 'exp'>,
): number {
  return (
    Math.max(born + limits.maxLifetimeMs, exp) + (observer.notifiesSuspended ? cancelLifetime : 0) + margin
  );
}

/** A request for the turn of a token, as the guard is asked for it. */
export interface TurnClaim extends Pick<GuardClaim, 'action' | 'digest' | 'follows' | 'ends'> {
  /** The part of the request that is needed to retry the turn. */
  readonly brought: BegunRequest;
  /** Number of times that the client has come. */
  readonly round: number;
  /** Bytes of the saga in the guard. Default: the turn has no limit. */
  readonly keptBytes?: number;
}

/** The claim of a request for the turn of a token. */
export async function claimOf(host: HostParts, saga: SealedSaga, request: TurnClaim): Promise<GuardClaim> {
  const { claims, sagaId } = saga;
  const { action, digest, follows, ends, brought, round } = request;
  return {
    sagaId,
    turn: claims.turn,
    jti: claims.jti,
    action,
    digest,
    ...(follows === true ? { follows } : {}),
    request: await sealRequest(host.keys.responses, saga, brought, round),
    ...(ends === true ? { ends } : {}),
    ...(await ownerOf(host, saga, request)),
    leaseMs: host.timing.leaseMs,
    expiresAt: guardedUntil(host, claims),
    respondsUntil: wantedUntil(host, claims) + margin,
  };
}

/** The error of a request whose turn another request runs. */
export function tooLate(): SagaHostError {
  return new SagaHostError('busy', 'The same request is being run. Send it again later.');
}

const maxAnswerDepth = 64;

/** A digest of what a request brings: equal for equal answers, whatever their order. */
export async function digestOf(action: string, answers: ReadonlyMap<string, ClientAnswer>): Promise<string> {
  const sorted = [...answers].toSorted(([one], [other]) => (one < other ? -1 : 1));
  // An answer may be as deep as the door lets through, and stands in a few lists and objects here.
  return await digestText(canonicalize([action, sorted], { maxDepth: 2 * maxAnswerDepth }));
}

const first = 50;

const longest = 1_000;

/**
 * Milliseconds before the guard is asked again about a running request: short at first, as most turns are, then longer.
 * Spread at random, so that waiting requests do not ask together.
 */
export function busyWait(waits: number, random: () => number = Math.random): number {
  const most = Math.min(longest, first * 2 ** waits);
  return most * (0.5 + random() / 2);
}
