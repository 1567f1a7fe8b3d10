import { present } from '@mcp-saga/core/program';
import { engineVersion } from '@mcp-saga/core';
import { TokenRefused, type Expectations } from '@mcp-saga/seal';
import { isForgotten } from '../guard/guard-retention.ts';
import { assertBegun } from '../token/assert-issued.ts';
import { principalOf } from './principal.ts';
import type { Caller } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SealedToken } from '../token/handles.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { keptBytesOf } from '../token/response-bytes.ts';
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

/**
 * Opens a token for a caller that may continue its saga.
 *
 * @throws TokenRefused for everything that is wrong with the token
 * @throws SagaHostError `clock_behind` if the token was issued in the future of this host, `version_gone` if a newer release
 * sealed it
 */
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
