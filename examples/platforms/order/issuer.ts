import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { startAuthorizationServer } from '../../../test/support/authorization-server.ts';

/** Issues access tokens, as a sign-in service does. */
export interface Issuer {
  readonly url: string;
  /** Issues a token for a user, valid for one hour. `claims` replace the default claims. */
  issue(
    subject: string,
    audience: string,
    claims?: { readonly [claim: string]: unknown },
  ): Promise<string>;
  stop(): void;
}

/** Starts an issuer on loopback, with the public keys at `path`. */
export async function startIssuer(path = '/.well-known/jwks.json'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const issue: Issuer['issue'] = (sub, aud, claims) =>
    new SignJWT({ iss: server.url, sub, aud, client_id: 'shopper', exp: now() + 3600, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: '1' })
      .sign(privateKey);
  const server = await startAuthorizationServer({
    keys: { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: '1' }] },
    keysPath: path,
    issue: (user, resource, client) => issue(user, resource, { client_id: client }),
  });
  return { ...server, issue };
}

/** Time in seconds, as in a token. */
const now = (): number => Math.floor(Date.now() / 1000);
