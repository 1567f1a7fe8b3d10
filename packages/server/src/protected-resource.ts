import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  oauthMetadataResponse,
  type AuthMetadataOptions,
} from '@modelcontextprotocol/server';

/** Where the users of a server sign in, for clients that find out by themselves (OAuth, RFC 9728). */
export interface ProtectedResourceOptions {
  /** URL of the server as its clients know it: what their access tokens are meant for. */
  readonly resource: string | undefined;
  /** Issuer of the access tokens: the URL of the authorization server. HTTPS, unless it is on this machine. */
  readonly issuer: string | undefined;
  /** Scopes that clients may ask for. */
  readonly scopes?: readonly string[];
}

/** A protected resource: its metadata, and what refusals say of them. */
export interface ProtectedResource {
  /** URL of the metadata. */
  readonly metadataUrl: string;
  /** The metadata, for a request that asks for them. */
  respond(request: Request): Response | undefined;
  /** Names the metadata in a challenge that does not. */
  challenge(response: Response): Response;
}

/**
 * Makes the metadata of a protected resource.
 *
 * @throws TypeError for a `resource` or an `issuer` that is no URL, or cannot be an issuer
 */
export function protectedResource({ resource, issuer, scopes }: ProtectedResourceOptions): ProtectedResource {
  if (!isUrl(resource)) throw new TypeError(`oauth.resource: expected the URL of this server. ${example}`);
  if (!isUrl(issuer)) throw new TypeError(`oauth.issuer: expected a URL. ${example}`);
  const options: AuthMetadataOptions = {
    // Of the authorization server, its own metadata say the rest.
    oauthMetadata: { issuer } as AuthMetadataOptions['oauthMetadata'],
    resourceServerUrl: new URL(resource),
    ...(scopes === undefined ? {} : { scopesSupported: [...scopes] }),
  };
  try {
    buildOAuthProtectedResourceMetadata(options);
  } catch (error) {
    throw new TypeError(`oauth.issuer: ${(error as Error).message}. ${example}`, { cause: error });
  }
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(options.resourceServerUrl);
  const { pathname } = new URL(metadataUrl);
  return {
    metadataUrl,
    respond: (request) =>
      new URL(request.url).pathname === pathname ? oauthMetadataResponse(request, options) : undefined,
    challenge: (response) => {
      const challenge = response.headers.get('www-authenticate') ?? '';
      if (!/^bearer\b/i.test(challenge) || challenge.includes('resource_metadata=')) return response;
      const { status, statusText, body } = response;
      const headers = new Headers(response.headers);
      const separator = challenge.includes('=') ? ', ' : ' ';
      headers.set('www-authenticate', `${challenge.trim()}${separator}resource_metadata="${metadataUrl}"`);
      return new Response(body, { status, statusText, headers });
    },
  };
}

const example =
  "For example oauth: { resource: 'https://mcp.example/mcp', issuer: 'https://login.example' }.";

function isUrl(value: string | undefined): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}
