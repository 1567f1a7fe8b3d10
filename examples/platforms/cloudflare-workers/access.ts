import type { Principal } from '@mcp-saga/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

/** An application of Cloudflare Access. */
interface AccessApplication {
  /** Address of the team, `https://<team>.cloudflareaccess.com`. */
  readonly ACCESS_TEAM: string;
  /** Audience tag. */
  readonly ACCESS_AUD: string;
}

// One key set for each isolate. The set fetches the keys with the first assertion, and again for an
// unknown key.
let keys: JWTVerifyGetKey | undefined;

/** Returns the user of the assertion of Cloudflare Access in the request. */
export async function accessAuth(
  request: Request,
  { ACCESS_TEAM: issuer, ACCESS_AUD: audience }: AccessApplication,
): Promise<AuthInfo | Response> {
  const token = request.headers.get('cf-access-jwt-assertion') ?? '';
  keys ??= createRemoteJWKSet(new URL('/cdn-cgi/access/certs', issuer));
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience });
    return { token, clientId: audience, scopes: [], extra: { issuer, subject: payload.sub } };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    return new Response('Sign in with Cloudflare Access\n', { status: 401 });
  }
}

/** Returns the signed-in user. Only this user can continue the user's sagas. */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { issuer, subject } = extra as { readonly issuer: string; readonly subject: string };
  return { issuer, subject, client: clientId };
}
