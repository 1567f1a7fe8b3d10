import type { Principal } from '@mcp-saga/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

/** An application of Cloudflare Access. */
interface AccessApplication {
  /** Its team's address, `https://<team>.cloudflareaccess.com`. */
  readonly ACCESS_TEAM: string;
  /** Its audience tag. */
  readonly ACCESS_AUD: string;
}

// Kept as long as the isolate: fetched with the first assertion, and again when one names a key that is not among them.
let keys: JWTVerifyGetKey | undefined;

/** Who Cloudflare Access has signed in: it puts an assertion into each request, which could otherwise be anybody's. */
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

/** The user who signed in: nobody else goes on with the user's sagas. */
export function principal(authInfo: unknown): Principal {
  const { clientId, extra } = authInfo as AuthInfo;
  const { issuer, subject } = extra as { readonly issuer: string; readonly subject: string };
  return { issuer, subject, client: clientId };
}
