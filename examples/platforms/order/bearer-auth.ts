/** Users of an OAuth issuer, by access token, for every platform with `Request` and `Response`. */
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
 * Checks the access tokens of an issuer, for `authenticate` of `serveSagas`. A request without a
 * valid token gets 401.
 *
 * @param issuer - address of the issuer, with its public keys at `/.well-known/jwks.json`
 * @param resource - required audience of a token: the public address of this server
 */
export function bearerAuth(
  issuer: string | undefined,
  resource: string | undefined,
): (request: Request) => Promise<AuthInfo | Response> {
  if (!issuer || !resource) throw new TypeError('Set OAUTH_ISSUER and OAUTH_RESOURCE.');
  // Fetches the keys with the first token, and again for an unknown key.
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  const verifier: OAuthTokenVerifier = {
    verifyAccessToken: async (token) => {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource }).catch(
        refuse,
      );
      const { sub: subject, exp: expiresAt, client_id: clientId } = payload;
      if (typeof clientId !== 'string' || subject === undefined || expiresAt === undefined)
        return refuse();
      return { token, clientId, scopes: [], expiresAt, extra: { issuer, subject } };
    },
  };
  return requireBearerAuth({ verifier });
}

function refuse(error?: unknown): never {
  // If the issuer cannot be reached, the token may be valid, so the request must not get 401.
  if (error !== undefined && !(error instanceof errors.JOSEError)) throw error;
  throw new OAuthError(OAuthErrorCode.InvalidToken, 'This token is not good here');
}

/**
 * Options of `serveSagas` for users of an OAuth issuer: token check, identity, and metadata for
 * clients.
 */
export function signedIn(
  issuer: string | undefined,
  resource: string | undefined,
): { readonly auth: ServeAuthOptions } {
  return {
    auth: { authenticate: bearerAuth(issuer, resource), principal, oauth: { issuer, resource } },
  };
}

/**
 * Returns the user of an access token, for `principal`. Only this user can continue the user's
 * sagas.
 */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { issuer, subject } = extra as { readonly issuer: string; readonly subject: string };
  return { issuer, subject, client: clientId };
}
