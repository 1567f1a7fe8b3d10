/**
 * Between a request and the guard: what a claim says, how long its entry must live, and which
 * error the client gets while the guard is down. What a claim may do is decided in
 * `store/decide.ts`.
 */
import { outline } from '../settings/default-log.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { Observer, HostParts } from '../settings/host-parts.ts';
import { decodeHead, present, type ClientAnswer } from '@mcp-saga/core/program';
import { canonicalize, digestText, toBase64Url, type Claims } from '@mcp-saga/seal';
import { sealRequest, sealStart, type RetryableRequest } from '../token/guard-records.ts';
import type { GuardClaim } from '../model/guard.ts';
import { chargeFor } from '../token/charge-for.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { isNamed, messageLifetimeMs } from '../token/sealed-saga.ts';

/**
 * Asks the guard. Throws `guard_down`, and reports the cause to `onError`: an error of Redis does
 * not name the guard.
 */
export async function askGuard<T>(
  { hooks }: Pick<Observer, 'hooks'>,
  ask: () => T | Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    hooks.onError(
      new SagaHostError('guard_down', `The guard cannot be reached: ${outline(error)}`, {
        cause: error,
        public: false,
      }),
    );
    throw new SagaHostError(
      'guard_down',
      'The server cannot continue the call now. Send the request again later.',
      {
        cause: error,
      },
    );
  }
}

/** Makes the error of a turn beyond a limit of the guard. The token of the turn stays valid. */
export function guardFull({ reject }: Pick<Observer, 'reject'>): SagaHostError {
  reject('guard_full');
  return new SagaHostError(
    'guard_full',
    'The server stores too much for the caller now. Send the request again later.',
  );
}

// Skew of tokens on both sides, a minute between a token and the message of its abandoned saga, and
// skew between a fleet and its store.
const margin = 5 * 60_000;

/** Time for which a queue may still deliver messages of a saga whose tokens have expired. */
function messagesMs({ guard }: Pick<HostParts, 'guard'>): number {
  return guard?.queue === undefined ? 0 : messageLifetimeMs;
}

/**
 * Time at which the guard may forget a used token (ms since the epoch): the token and the message of
 * its turn have expired.
 */
function guardedUntil(
  host: Pick<HostParts, 'guard' | 'timing' | 'limits'>,
  claims: Pick<Claims, 'exp'>,
): number {
  return wantedUntil(host, claims) + messagesMs(host) + margin;
}

/**
 * A turn may outlast its token: the host may begin a turn of an expired token, and a running turn
 * renews its lease for the lifetime of a token.
 */
function wantedUntil(
  { timing: { clock, leaseMs }, limits }: Pick<HostParts, 'timing' | 'limits'>,
  { exp }: Pick<Claims, 'exp'>,
): number {
  return Math.max(exp, Math.ceil(clock() + Math.max(leaseMs, limits.tokenTtl)));
}

/**
 * `true` if the guard was restarted after `time` (ms since the epoch), and forgot all earlier
 * tokens.
 */
export function isForgotten(
  { guard, timing }: Pick<HostParts, 'guard' | 'timing'>,
  time: number,
): boolean {
  return time < (guard?.turns.remembersSince?.(timing.clock()) ?? 0);
}

/**
 * Time at which the guard may forget the claimed steps of a saga (ms since the epoch): when all its
 * tokens have expired. Older tokens, and tokens to undo, may expire later than the newest.
 */
export function claimedUntil(
  host: Pick<HostParts, 'limits' | 'guard'>,
  { born, exp }: Pick<Claims, 'born' | 'exp'>,
): number {
  return Math.max(born + host.limits.maxLifetime, exp) + messagesMs(host) + margin;
}

/**
 * Time in which a queue delivers a message late, or again after its process died, in milliseconds:
 * the guard knows the next turn until then.
 */
const redeliveryMs = 24 * 60 * 60 * 1000;

/** Request for the turn of a token. */
export interface TurnClaim extends Pick<
  GuardClaim,
  'action' | 'digest' | 'decisions' | 'decided' | 'follows' | 'learnsEnd' | 'ends'
> {
  /** Part of the request needed to retry the turn. */
  readonly brought: RetryableRequest;
  /** Number of requests of the client. */
  readonly round: number;
  /**
   * `true` for the message of a queue, which may be delivered again hours after its process died.
   */
  readonly isWake?: boolean;
  /** Bytes of the saga in the guard. Default: the turn has no limit. */
  readonly keptBytes?: number;
}

/** Makes the claim of a request. */
export async function claimOf(
  host: HostParts,
  saga: SealedSaga,
  request: TurnClaim,
): Promise<GuardClaim> {
  const { claims, sagaId } = saga;
  const { action, digest, decisions, decided, follows, learnsEnd, ends } = request;
  const { brought, round, isWake = false } = request;
  const now = host.timing.clock();
  // The message of an older turn leads to the turn whose message was lost, and comes after the
  // token has expired.
  const isQueued = host.guard?.queue !== undefined;
  const deliveredAt = isWake ? now : isQueued ? Math.max(claims.exp, now) : undefined;
  const redeliveredUntil = deliveredAt === undefined ? 0 : deliveredAt + redeliveryMs;
  // A start is known as long as anything of its saga, so that no repetition begins another one. The
  // turns after it lead a repetition to the newest one.
  const isRepeatable = isNamed(saga);
  const startedUntil = isRepeatable ? now + redeliveryMs : 0;
  return {
    sagaId,
    turn: claims.turn,
    jti: claims.jti,
    action,
    digest,
    ...present({ decisions, decided, keepsResponses: saga.state.hasPages }),
    ...(follows === true ? { follows } : {}),
    ...(learnsEnd === true ? { learnsEnd } : {}),
    request: await (claims.turn === 0 ? sealStart : sealRequest)(host, saga, brought, round),
    ...(ends === true ? { ends } : {}),
    charge: await chargeFor(host, claims, { isLimited: request.keptBytes !== undefined }),
    leaseMs: host.timing.leaseMs,
    expiresAt: Math.max(guardedUntil(host, claims), isRepeatable ? claimedUntil(host, claims) : 0),
    respondsUntil: Math.max(wantedUntil(host, claims), redeliveredUntil, startedUntil) + margin,
  };
}

/** Makes the error of a request while another request runs the turn. */
export function tooLate(): SagaHostError {
  return new SagaHostError(
    'busy',
    'The same request is already running. Send the request again later.',
  );
}

const maxAnswerDepth = 64;

/** Digest of a request, independent of the order of the answers. */
export async function digestOf(
  action: string,
  answers: ReadonlyMap<string, ClientAnswer>,
): Promise<string> {
  const sorted = [...answers].toSorted(([one], [other]) => (one < other ? -1 : 1));
  // An answer has the maximum depth of input, inside a few lists and objects.
  return await digestText(canonicalize([action, sorted], { maxDepth: 2 * maxAnswerDepth }));
}

/**
 * What answers decide about the open questions of a saga, each in 16 characters. A question that is
 * asked again with other words is another one. The secret of the saga is a part of the digests:
 * without it, a store could try all answers to a question with few.
 */
export async function decisionsOf(
  { state: { generation, program, secret } }: SealedSaga,
  answers: ReadonlyMap<string, ClientAnswer>,
): Promise<readonly string[]> {
  const { asked } = decodeHead(program.head);
  const salt = toBase64Url(secret);
  const shortDigest = async (text: string): Promise<string> =>
    (await digestText(`${salt} ${text}`)).slice(0, 8);
  const decided = [...answers].map(async ([stepId, answer]) => {
    const question = `${generation} ${asked[stepId] ?? ''} ${stepId}`;
    const given = canonicalize(answer, { maxDepth: 2 * maxAnswerDepth });
    return (await shortDigest(question)) + (await shortDigest(given));
  });
  return await Promise.all(decided);
}

const first = 50;

const longest = 1_000;

/**
 * Wait before the guard is asked again about a running request, in milliseconds. Grows from 50 to
 * 1,000, with random jitter, so that waiting requests do not ask together.
 */
export function busyWait(waits: number, random: () => number = Math.random): number {
  const most = Math.min(longest, first * 2 ** waits);
  return most * (0.5 + random() / 2);
}
