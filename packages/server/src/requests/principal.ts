import { canonicalize } from '@mcp-saga/seal';
import type { Caller, PrincipalOption, Principal } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';

/**
 * The principal as it is sealed; null for a caller without authentication, which is a value of its own: a saga that
 * was started without it does not go on with it, nor the other way round. (T6)
 *
 * @throws SagaHostError `principal_missing` when there is auth info that no principal can be made of
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
