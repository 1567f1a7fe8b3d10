import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** Issues access tokens, as a sign-in service does. */
export interface Issuer {
  readonly url: string;
  /** A token for a user, good for an hour; `claims` take the place of its own. */
  issue(subject: string, audience: string, claims?: { readonly [claim: string]: unknown }): Promise<string>;
  stop(): void;
}

/** Starts an issuer on loopback that publishes its keys at `path`: the servers check its tokens as anybody's. */
export async function startIssuer(path = '/.well-known/jwks.json'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const published = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: '1' }] });
  const server = createServer((request, response) => {
    response.writeHead(request.url === path ? 200 : 404, { 'content-type': 'application/json' });
    response.end(published);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    issue: (sub, aud, claims) =>
      new SignJWT({ iss: url, sub, aud, client_id: 'shopper', exp: now() + 3600, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: '1' })
        .sign(privateKey),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** In seconds, as tokens have it. */
const now = (): number => Math.floor(Date.now() / 1000);
