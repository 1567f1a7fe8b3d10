import { optionError } from '@mcp-saga/core/shared';
import type { AuthMetadataOptions } from '@modelcontextprotocol/server';

/**
 * OAuth metadata of a server (RFC 9728). Clients use it to find the authorization server.
 * @example
 * ```ts
 * const oauth: ProtectedResourceOptions = { resource: 'https://mcp.example/mcp', issuer: 'https://login.example' };
 * ```
 */
export interface ProtectedResourceOptions {
  /** Public URL of the server, which is the audience of its access tokens. */
  readonly resource: string | undefined;
  /**
   * URL of the authorization server, which issues the access tokens. HTTPS, except on localhost.
   */
  readonly issuer: string | undefined;
  /** Scopes for clients to request. Default: not announced. */
  readonly scopes?: readonly string[];
}

/** Metadata of a protected resource, and challenges with its URL. */
export interface ProtectedResource {
  readonly metadataUrl: string;
  /** Responds to requests for the metadata; undefined for other requests. */
  respond(request: Request, pathname: string): Promise<Response | undefined> | undefined;
  /** Adds the URL of the metadata to a `Bearer` challenge without one. */
  challenge(response: Response): Response;
}

/**
 * Creates the metadata of a protected resource. Throws TypeError for an invalid URL, or an issuer
 * with a query or plain HTTP.
 */
export function protectedResource({
  resource,
  issuer,
  scopes,
}: ProtectedResourceOptions): ProtectedResource {
  if (!isUrl(resource))
    throw optionError(`oauth.resource: expected the URL of this server. ${example}`);
  if (!isUrl(issuer)) throw optionError(`oauth.issuer: expected a URL. ${example}`);
  const options: AuthMetadataOptions = {
    // The SDK reads only the issuer.
    oauthMetadata: { issuer } as AuthMetadataOptions['oauthMetadata'],
    resourceServerUrl: new URL(resource),
    ...(scopes === undefined ? {} : { scopesSupported: [...scopes] }),
  };
  assertIssuer(new URL(issuer));
  const metadataUrl = toMetadataUrl(resource);
  const { pathname: metadataPath } = new URL(metadataUrl);
  return {
    metadataUrl,
    respond: (request, pathname) =>
      pathname === metadataPath ? respondBySdk(request, options) : undefined,
    challenge: (response) => {
      const challenge = response.headers.get('www-authenticate') ?? '';
      if (!/^bearer\b/i.test(challenge) || challenge.includes('resource_metadata='))
        return response;
      const { status, statusText, body } = response;
      const headers = new Headers(response.headers);
      const separator = challenge.includes('=') ? ', ' : ' ';
      headers.set(
        'www-authenticate',
        `${challenge.trim()}${separator}resource_metadata="${metadataUrl}"`,
      );
      return new Response(body, { status, statusText, headers });
    },
  };
}

/** Loads the SDK with the first request, which most servers never get. */
async function respondBySdk(
  request: Request,
  options: AuthMetadataOptions,
): Promise<Response | undefined> {
  const { oauthMetadataResponse } = await import('./sdk-metadata.ts');
  return oauthMetadataResponse(request, options);
}

/** Checks an issuer by RFC 8414. Allows plain HTTP on localhost. */
function assertIssuer({ protocol, hostname, hash, search }: URL): void {
  if (protocol !== 'https:' && hostname !== 'localhost' && hostname !== '127.0.0.1')
    throw optionError(`oauth.issuer: expected HTTPS. ${example}`);
  if (hash !== '' || search !== '')
    throw optionError(`oauth.issuer: expected a URL without a query or a fragment. ${example}`);
}

/** Returns the URL of the metadata of a resource (RFC 9728, section 3.1). */
function toMetadataUrl(resource: string): string {
  const url = new URL(resource);
  url.pathname = `/.well-known/oauth-protected-resource${url.pathname.replace(/\/$/, '')}`;
  url.hash = '';
  return url.href;
}

const example =
  "For example oauth: { resource: 'https://mcp.example/mcp', issuer: 'https://login.example' }.";

function isUrl(value: string | undefined): value is string {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}
