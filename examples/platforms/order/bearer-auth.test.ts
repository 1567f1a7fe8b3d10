import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearerAuth, principal } from './bearer-auth.ts';
import { type Issuer, startIssuer } from './issuer.ts';

const resource = 'https://orders.example/mcp';
let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => {
  issuer.stop();
});

const withToken = (token: string): Request =>
  new Request(resource, { headers: { authorization: `Bearer ${token}` } });

describe('access tokens', () => {
  it('identify the caller', async () => {
    const gate = bearerAuth(issuer.url, resource);
    const authInfo = await gate(withToken(await issuer.issue('ada', resource)));
    expect(principal(authInfo)).toEqual({ issuer: issuer.url, subject: 'ada', client: 'shopper' });
  });

  it.each([
    { what: 'for another server', claims: { aud: 'https://elsewhere.example/mcp' } },
    { what: 'by another issuer', claims: { iss: 'https://elsewhere.example' } },
    { what: 'that has expired', claims: { exp: 1 } },
    { what: 'that never expires', claims: { exp: undefined } },
    { what: 'of nobody', claims: { sub: undefined } },
    { what: 'of no client', claims: { client_id: undefined } },
  ])('are refused: a token $what', async ({ claims }) => {
    const gate = bearerAuth(issuer.url, resource);
    const refused = await gate(withToken(await issuer.issue('ada', resource, claims)));
    expect(refused).toMatchObject({ status: 401 });
  });

  it('are refused from another issuer', async () => {
    const other = await startIssuer();
    const forged = await other.issue('ada', resource, { iss: issuer.url });
    other.stop();
    expect(await bearerAuth(issuer.url, resource)(withToken(forged))).toMatchObject({
      status: 401,
    });
  });

  it('are neither accepted nor refused while the issuer is down', async () => {
    const gone = await startIssuer();
    gone.stop();
    const token = await gone.issue('ada', resource);
    expect(await bearerAuth(gone.url, resource)(withToken(token))).toMatchObject({ status: 500 });
  });

  it.each([
    [undefined, resource],
    ['https://issuer.example', undefined],
    ['', ''],
  ])('are rejected at the start without an issuer and a resource: %o, %o', (issuedBy, meantFor) => {
    expect(() => bearerAuth(issuedBy, meantFor)).toThrow('Set OAUTH_ISSUER and OAUTH_RESOURCE.');
  });
});
