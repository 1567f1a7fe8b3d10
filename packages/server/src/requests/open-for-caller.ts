import { present, engineVersion } from '@mcp-saga/core/program';
import {
  TokenRefused,
  type Expectations,
  hasBegun,
  type Claims,
  canonicalize,
} from '@mcp-saga/seal';
import { isForgotten } from '../guard/ask-guard.ts';
import type { Caller, Principal } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SealedToken } from '../token/handles.ts';
import type { Gate, HostParts } from '../settings/host-parts.ts';
import { assertKnownPrincipal } from '../settings/known-options.ts';
import { keptBytesOf } from '../token/guard-records.ts';
import { type OpenSaga, openSealed, found } from '../token/resolve-program.ts';
import { toSealedSaga } from '../token/sealed-saga.ts';

/** Expectations of a request for its token, in addition to those of the host. */
export type TokenExpectations = Omit<
  Expectations,
  'purpose' | 'principal' | 'engines' | 'rejectIssuedBefore' | 'allowFuture'
> & {
  /** Purpose of the sealed text. @default 'token' */
  readonly purpose?: SealedToken['purpose'];
};

/** Saga of a token that a client has sent. */
export interface OpenedToken extends OpenSaga {
  /** Bytes of all streams, after decompression. */
  readonly inflatedBytes: number;
}

/** Opens a token for a turn, with all checks before the guard. */
export async function openSaga(
  host: HostParts,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const opened = await openForCaller(host, token, caller, expect);
  await assertRate(host, opened);
  return opened;
}

/** Throws `rate_limited` for a request beyond the rate limit. The token stays valid. */
export async function assertRate(host: HostParts, opened: OpenedToken): Promise<void> {
  const { claims, sagaId } = opened.saga;
  const facts = {
    principal: claims.principal,
    sagaId,
    turn: claims.turn + 1,
    bytes: opened.saga.tokenBytes,
    inflatedBytes: opened.inflatedBytes,
    keptBytes: keptBytesOf(host, opened.saga),
  };
  if (!(await host.gate.rateLimit(facts))) throw rateLimited();
}

/**
 * Opens a token for a caller with access to the saga. Throws TokenRefused, `clock_behind`, or
 * `version_gone`.
 */
export async function openForCaller(
  host: HostParts,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenedToken> {
  const principal = await principalOf(caller, host.gate);
  const { rejectIssuedBefore } = host.gate;
  const expected: Expectations = {
    allowFuture: true,
    ...expect,
    purpose: expect.purpose ?? 'token',
    principal,
    engines: { min: 1, max: engineVersion },
    ...present({ rejectIssuedBefore }),
  };
  const sealed = await openSealed(host.observer, host.keys.sealer, token, expected);
  if (!(await host.gate.authorize(caller, { ...sealed.claims.saga })))
    throw new TokenRefused('forbidden');
  const opened = found(host, toSealedSaga(sealed, token.length));
  if (opened.program?.reuse !== 'ok' && isForgotten(host, sealed.claims.iat))
    throw new TokenRefused('guard_restarted');
  assertBegun(host, opened.saga.claims);
  const inflatedBytes = sealed.streams.reduce((sum, { length }) => sum + length, 0);
  return { ...opened, inflatedBytes };
}

/** Makes the error of a turn beyond a rate limit. */
export function rateLimited(): SagaHostError {
  return new SagaHostError('rate_limited', 'Too many requests. Send the request again later.');
}

/**
 * Throws `clock_behind` for a token of the future. Call it last: only the bearer of a good token
 * may learn about the clock.
 */
export function assertBegun(
  { timing: { clock }, observer: { reject } }: Pick<HostParts, 'timing' | 'observer'>,
  claims: Pick<Claims, 'born' | 'iat'>,
): void {
  if (hasBegun(claims, clock())) return;
  reject('not_yet_valid');
  throw new SagaHostError(
    'clock_behind',
    'The server cannot continue the call now. Send the request again later.',
    {
      cause: new SagaHostError(
        'clock_behind',
        'The clock of the host is behind. Synchronize the clocks of all hosts.',
        { public: false },
      ),
    },
  );
}

/**
 * Returns the principal to seal. Null marks anonymous callers, whose sagas no user can continue.
 * Every request that acts for its caller passes here, so that none is anonymous by accident.
 * Throws `principal_missing` if a user has no principal, or if a host that tells callers apart gets
 * none.
 */
export async function principalOf(
  { user, principal }: Caller,
  { principal: option, requiresCaller }: Pick<Gate, 'principal' | 'requiresCaller'>,
): Promise<string | null> {
  if (principal === 'anonymous') return null;
  if (principal !== undefined) return sealable(principal, 'caller.principal: expected a subject.');
  if (user === undefined || user === null) {
    if (!requiresCaller) return null;
    throw missing(
      'The host has `auth`, but this request has no caller. Pass caller: { principal: { issuer, subject, client } } or ' +
        "caller: { user }. If there is none, say caller: 'anonymous', or set anonymous: { calls: 'accept' } for requests of MCP clients.",
    );
  }
  if (option === 'client-only') {
    const { clientId } = user as { readonly clientId?: unknown };
    if (typeof clientId !== 'string' || clientId === '')
      throw missing('The auth info has no clientId.');
    return canonicalize({ client: clientId });
  }
  const returned = await option(user);
  assertKnownPrincipal('auth.principal()', returned ?? undefined);
  return sealable(returned, '`auth.principal` returned no subject for an authenticated request.');
}

function sealable(principal: Principal | undefined, problem: string): string {
  const { issuer, subject, client } = principal ?? {};
  if (typeof subject !== 'string' || subject === '') throw missing(problem);
  return canonicalize(issuer === undefined ? { subject, client } : { issuer, subject, client });
}

function missing(message: string): SagaHostError {
  return new SagaHostError('principal_missing', message, { public: false });
}
