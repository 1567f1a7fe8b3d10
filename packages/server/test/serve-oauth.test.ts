import { serveSagas, type SagaServer, type ServeSagasOptions } from '@mcp-saga/server/serve';
import {
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  requireScopes,
} from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { oldKey } from './fixtures/host.ts';
import { post } from './fixtures/raw.ts';
import { asking } from './fixtures/sagas.ts';
import { changed, type Parts } from './fixtures/host-changes.ts';

const oauth = { resource: 'https://mcp.example/mcp', issuer: 'https://login.example' };
const metadataUrl = 'https://mcp.example/.well-known/oauth-protected-resource/mcp';

function serve(changes: Parts<ServeSagasOptions> = {}): SagaServer {
  return serveSagas(
    changed<ServeSagasOptions>(
      {
        name: 'deployer',
        version: '1.0.0',
        sagas: [asking()],
        keys: oldKey,
        testing: { environment: 'production' },
        auth: { oauth, principal: 'client-only', authenticate: () => undefined },
      },
      changes,
    ),
  );
}

const gate = requireBearerAuth({
  verifier: {
    verifyAccessToken: async (token) => {
      if (token === 'bad') throw new OAuthError(OAuthErrorCode.InvalidToken, 'no');
      return { token, clientId: 'c', scopes: [], expiresAt: Date.now() / 1000 + 60 };
    },
  },
  requiredScopes: ['sagas'],
});

async function challengeTo(
  server: SagaServer,
  headers: Record<string, string> = {},
): Promise<string | null> {
  const response = await server.fetch(post('modern', 'tools/list', {}, 1, { headers }));
  return response.headers.get('www-authenticate');
}

describe('protected resource metadata', () => {
  test('name the authorization server to any client, also to pages of other origins', async () => {
    const server = serve({ auth: { oauth: { ...oauth, scopes: ['sagas'] } } });
    const headers = { origin: 'https://app.example' };
    const response = await server.fetch(new Request(metadataUrl, { headers }));
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource: oauth.resource,
      authorization_servers: ['https://login.example'],
      scopes_supported: ['sagas'],
    });
  });

  test('are served at no other URL, and not without the option', async () => {
    const statusOf = async (url: string, server = serve()): Promise<number> =>
      (await server.fetch(new Request(url))).status;
    expect(await statusOf('https://mcp.example/.well-known/oauth-authorization-server')).toBe(404);
    expect(await statusOf('https://mcp.example/.well-known/oauth-protected-resource/other')).toBe(
      404,
    );
    const without = serveSagas({ name: 'd', version: '1', sagas: [asking()], keys: oldKey });
    expect(await statusOf(metadataUrl, without)).toBe(404);
    expect(await statusOf(metadataUrl, serve({ http: { allowedHosts: ['localhost'] } }))).toBe(404);
  });

  test.each(['', '/', '/mcp', '/mcp/', '/a/b?tenant=7', '/mcp#part'])(
    'are served at the URL that the SDK derives for a resource with the path %j',
    async (path) => {
      const resource = `https://mcp.example${path}`;
      const server = serve({ auth: { oauth: { ...oauth, resource } } });
      const url = getOAuthProtectedResourceMetadataUrl(new URL(resource));
      expect(await challengeTo(server)).toBe(`Bearer resource_metadata="${url}"`);
      expect((await server.fetch(new Request(url))).status).toBe(200);
      expect((await server.fetch(new Request(url, { method: 'POST' }))).status).toBe(405);
    },
  );

  test('are named by the challenge of the server, and added to the challenge of a bearer gate', async () => {
    const named = `resource_metadata="${metadataUrl}"`;
    expect(await challengeTo(serve())).toBe(`Bearer ${named}`);
    const gated = serve({ auth: { authenticate: gate } });
    for (const authorization of ['', 'Bearer bad', 'Bearer scopeless']) {
      const challenge = await challengeTo(gated, authorization === '' ? {} : { authorization });
      expect(challenge).toMatch(/^Bearer error="(invalid_token|insufficient_scope)", /);
      expect(challenge).toContain(`, ${named}`);
    }
  });

  test('are not added to a challenge that names its own metadata or another scheme', async () => {
    const own = 'Bearer resource_metadata="https://mcp.example/own"';
    const refused = (): Response =>
      new Response(null, { status: 401, headers: { 'www-authenticate': own } });
    expect(await challengeTo(serve({ auth: { authenticate: refused } }))).toBe(own);
    const basic = (): Response =>
      new Response(null, { status: 401, headers: { 'www-authenticate': 'Basic' } });
    expect(await challengeTo(serve({ auth: { authenticate: basic } }))).toBe('Basic');
  });

  test('are named by the challenge of a tool that requires a scope', async () => {
    const authInfo = { token: 't', clientId: 'c', scopes: [] };
    const server = serve({
      auth: { authenticate: () => authInfo },
      extend: (mcp) => {
        const config = { scopeChallenge: requireScopes('admin') };
        mcp.registerTool('reset', config, () => ({ content: [] }));
      },
    });
    const request = post('modern', 'tools/call', { name: 'reset' }, 1, {
      headers: { 'mcp-name': 'reset' },
    });
    const response = await server.fetch(request);
    expect(response.status).toBe(403);
    expect(response.headers.get('www-authenticate')).toContain(
      `resource_metadata="${metadataUrl}"`,
    );
  });

  test.each<[string, Parts<ServeSagasOptions>]>([
    ['no resource', { auth: { oauth: { ...oauth, resource: undefined } } }],
    ['a path as the resource', { auth: { oauth: { ...oauth, resource: '/mcp' } } }],
    ['no issuer', { auth: { oauth: { ...oauth, issuer: '' } } }],
    ['an issuer of plain HTTP', { auth: { oauth: { ...oauth, issuer: 'http://login.example' } } }],
    [
      'an issuer with a fragment',
      { auth: { oauth: { ...oauth, issuer: 'https://login.example#a' } } },
    ],
    [
      'an issuer with a query',
      { auth: { oauth: { ...oauth, issuer: 'https://login.example?a=1' } } },
    ],
  ])('are rejected at the start with %s', (_, options) => {
    expect(() => serve(options)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  test('are rejected at the start without `authenticate`', () => {
    const options = {
      name: 'deployer',
      version: '1.0.0',
      sagas: [asking()],
      keys: oldKey,
      auth: { oauth },
    };
    expect(() => serveSagas(options)).toThrow(expect.objectContaining({ code: 'missing_option' }));
  });
});
