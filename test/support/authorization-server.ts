import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Options of an authorization server. */
export interface AuthorizationServerOptions {
  /** Public keys, as a JSON Web Key Set. */
  readonly keys: object;
  /** Path of the keys. */
  readonly keysPath: string;
  /** Creates an access token for a user of a client, with a resource as its audience. */
  readonly issue: (user: string, resource: string, client: string) => Promise<string>;
}

/** An OAuth authorization server on loopback. */
export interface AuthorizationServer {
  readonly url: string;
  stop(): void;
}

interface Grant {
  readonly user: string;
  readonly client: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly challenge: string;
}

type Answer = { readonly status: number; readonly json: object } | { readonly location: URL };

const notFound: Answer = { status: 404, json: {} };
const invalidGrant: Answer = { status: 400, json: { error: 'invalid_grant' } };

/**
 * Starts an authorization server (RFC 6749, 7591, 7636, 8414, 8707, 9207). Clients register
 * themselves. The `user` cookie of a browser names its user. Each code works once, with the client,
 * the resource, and the verifier of its request.
 */
export async function startAuthorizationServer({
  keys,
  keysPath,
  issue,
}: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const clients = new Set<string>();
  const grants = new Map<string, Grant>();
  let issuer = '';

  const metadata = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  });

  async function register(request: IncomingMessage): Promise<Answer> {
    const client = randomUUID();
    clients.add(client);
    return {
      status: 201,
      json: { ...(JSON.parse(await text(request)) as object), client_id: client },
    };
  }

  function authorize({ headers }: IncomingMessage, asked: URLSearchParams): Answer {
    const [, user] = /(?:^|; )user=(\w+)/.exec(headers.cookie ?? '') ?? [];
    const wanted = (name: string): string => asked.get(name) ?? '';
    const client = wanted('client_id');
    if (user === undefined || !clients.has(client) || wanted('code_challenge_method') !== 'S256')
      return { status: 400, json: { error: 'invalid_request' } };
    const code = randomUUID();
    const redirectUri = wanted('redirect_uri');
    const grant = { user, client, redirectUri, resource: wanted('resource') };
    grants.set(code, { ...grant, challenge: wanted('code_challenge') });
    const location = new URL(redirectUri);
    location.search = new URLSearchParams({ code, state: wanted('state'), iss: issuer }).toString();
    return { location };
  }

  async function exchange(request: IncomingMessage): Promise<Answer> {
    const sent = new URLSearchParams(await text(request));
    const code = sent.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const verifier = sent.get('code_verifier') ?? '';
    const isGood =
      grant?.client === sent.get('client_id') &&
      grant.redirectUri === sent.get('redirect_uri') &&
      grant.resource === sent.get('resource') &&
      grant.challenge === createHash('sha256').update(verifier).digest('base64url');
    if (grant === undefined || !isGood) return invalidGrant;
    const token = await issue(grant.user, grant.resource, grant.client);
    return { status: 200, json: { access_token: token, token_type: 'Bearer', expires_in: 3600 } };
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    switch (pathname) {
      case keysPath:
        return { status: 200, json: keys };
      case '/.well-known/oauth-authorization-server':
        return { status: 200, json: metadata() };
      case '/register':
        return await register(request);
      case '/authorize':
        return authorize(request, searchParams);
      case '/token':
        return await exchange(request);
      default:
        return notFound;
    }
  }

  const server = createServer((request, response) => {
    void answer(request).then((given) => send(response, given));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: issuer,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function send(response: ServerResponse, given: Answer): void {
  if ('location' in given) response.writeHead(302, { location: given.location.href }).end();
  else
    response
      .writeHead(given.status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      .end(JSON.stringify(given.json));
}
