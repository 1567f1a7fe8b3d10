/** Who calls, by the access token of an OAuth issuer: on every platform that speaks `Request` and `Response`. */
import type { Principal } from '@mcp-saga/server';
import type { ServeAuthOptions } from '@mcp-saga/server/serve';
import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

/**
 * Checks the access tokens of an issuer, for `authenticate` of `serveSagas`: who has no good one is answered 401.
 *
 * @param issuer - the address of the issuer, whose public keys are at `/.well-known/jwks.json`
 * @param resource - what a token must be meant for: the address of this server, as its clients know it
 */
export function bearerAuth(
  issuer: string | undefined,
  resource: string | undefined,
): (request: Request) => Promise<AuthInfo | Response> {
  if (!issuer || !resource) throw new TypeError('Set OAUTH_ISSUER and OAUTH_RESOURCE.');
  // Fetched with the first token, and again when a token names a key that is not among them.
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  const verifier: OAuthTokenVerifier = {
    verifyAccessToken: async (token) => {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource }).catch(refuse);
      const { sub: subject, exp: expiresAt, client_id: clientId } = payload;
      if (typeof clientId !== 'string' || subject === undefined || expiresAt === undefined) return refuse();
      return { token, clientId, scopes: [], expiresAt, extra: { issuer, subject } };
    },
  };
  return requireBearerAuth({ verifier });
}

function refuse(error?: unknown): never {
  // Where the issuer cannot be reached, nothing is known of the token: that is no 401.
  if (error !== undefined && !(error instanceof errors.JOSEError)) throw error;
  throw new OAuthError(OAuthErrorCode.InvalidToken, 'This token is not good here');
}

/** Options of `serveSagas` for users of an OAuth issuer: the check of their tokens, their identity, and the metadata for clients. */
export function signedIn(
  issuer: string | undefined,
  resource: string | undefined,
): { readonly auth: ServeAuthOptions } {
  return { auth: { authenticate: bearerAuth(issuer, resource), principal, oauth: { issuer, resource } } };
}

/** The user that a token was issued to, for `principal`: nobody else goes on with the user's sagas. */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { issuer, subject } = extra as { readonly issuer: string; readonly subject: string };
  return { issuer, subject, client: clientId };
}
