import { present, engineVersion } from '@mcp-saga/core/program';
import { TokenRefused, type Expectations, hasBegun, type Claims, canonicalize } from '@mcp-saga/seal';
import { isForgotten } from '../guard/ask-guard.ts';
import type { Caller, PrincipalOption, Principal } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SealedToken } from '../token/handles.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { keptBytesOf } from '../token/guard-records.ts';
import { type OpenSaga, openSealed, found } from '../token/resolve-program.ts';

/** What a request expects of its token; the host adds what it expects of all. */
export type TokenExpectations = Omit<
  Expectations,
  'purpose' | 'principal' | 'engines' | 'rejectIssuedBefore' | 'allowFuture'
> & {
  /** Purpose of what was sent. Default `token`. */
  readonly purpose?: SealedToken['purpose'];
};

/** Opens a token for a turn, and makes every check that comes before the guard. */
export async function openSaga(
  host: HostParts,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const opened = await openForCaller(host, token, caller, expect);
  const { claims, sagaId } = opened.saga;
  const facts = {
    principal: claims.principal,
    sagaId,
    turn: claims.turn + 1,
    bytes: token.length,
    inflatedBytes: opened.inflatedBytes,
    keptBytes: keptBytesOf(host, opened.saga, token.length),
  };
  // The token is good, and stays so: a client that is told so comes again.
  if (!(await host.gate.rateLimit(facts))) throw notAdmitted();
  return opened;
}

/** Opens a token for a caller that may continue its saga. Throws TokenRefused, `clock_behind`, or `version_gone`. */
export async function openForCaller(
  host: HostParts,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const principal = await principalOf(caller, host.gate.principal);
  const { rejectIssuedBefore } = host.gate;
  const expected: Expectations = {
    ...expect,
    purpose: expect.purpose ?? 'token',
    principal,
    engines: { min: 1, max: engineVersion },
    allowFuture: true,
    ...present({ rejectIssuedBefore }),
  };
  const sealed = await openSealed(host.observer, host.keys.sealer, token, expected);
  if (!(await host.gate.authorize(caller, { ...sealed.claims.saga }))) throw new TokenRefused('forbidden');
  const saga = found(host, sealed);
  if (saga.program?.forks !== 'accept' && isForgotten(host, sealed.claims.iat))
    throw new TokenRefused('guard_restarted');
  assertBegun(host, saga.saga.claims);
  return saga;
}

/** The error of a turn that may not run now. */
export function notAdmitted(): SagaHostError {
  return new SagaHostError('not_admitted', 'Not now. Send it again later.');
}

/**
 * Throws `clock_behind` for a token of the future. Call it after all other checks: only the bearer of a good token may learn
 * that the clock of this host is behind.
 */
export function assertBegun(
  { timing: { clock }, observer: { reject } }: Pick<HostParts, 'timing' | 'observer'>,
  claims: Pick<Claims, 'born' | 'iat'>,
): void {
  if (hasBegun(claims, clock())) return;
  reject('not_yet_valid');
  throw new SagaHostError('clock_behind', 'The server cannot continue this call now. Send it again later.', {
    cause: new SagaHostError(
      'clock_behind',
      'The clock of this host is behind. Synchronize the clocks of all hosts.',
      { public: false },
    ),
  });
}

/**
 * Returns the principal to seal; null for anonymous callers, a value of its own: their sagas cannot continue with a user.
 * Throws `principal_missing` if auth info has no principal.
 */
export async function principalOf(
  caller: Caller,
  option: PrincipalOption | undefined,
): Promise<string | null> {
  const { authInfo } = caller;
  if (caller.principal !== undefined) return sealable(caller.principal, 'The caller names no subject.');
  if (authInfo === undefined || authInfo === null) return null;
  if (option === undefined) {
    throw missing(
      'Requests are authenticated, and the host has no `auth.principal`. Give it ' +
        'auth.principal: (authInfo) => ({ issuer, subject, client }), because the SDKs know only the client application, ' +
        "which all its users share; or auth: { principal: 'client-only' } if that is meant.",
    );
  }
  if (option === 'client-only') {
    const { clientId } = authInfo as { readonly clientId?: unknown };
    if (typeof clientId !== 'string' || clientId === '') throw missing('The auth info has no clientId.');
    return canonicalize({ client: clientId });
  }
  return sealable(
    await option(authInfo),
    "The host's `auth.principal` gave no subject for an authenticated request.",
  );
}

function sealable(principal: Principal | undefined, problem: string): string {
  const { issuer, subject, client } = principal ?? {};
  if (typeof subject !== 'string' || subject === '') throw missing(problem);
  return canonicalize(issuer === undefined ? { subject, client } : { issuer, subject, client });
}

function missing(message: string): SagaHostError {
  return new SagaHostError('principal_missing', message, { public: false });
}
