import assert from 'node:assert/strict';
import {
  type Client,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { createClient } from './connect.ts';

/** Signs in a user, with consent for every client. */
class SignIn implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:8976/callback';
  readonly clientMetadata = { client_name: 'shopper', redirect_uris: [this.redirectUrl] };
  /** Parameters of the redirect back to the client. */
  callback: URLSearchParams | undefined;

  readonly #user: string;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  #verifier = '';

  constructor(user: string) {
    this.#user = user;
  }

  /** Opens the page in the user's browser, and follows the redirect. */
  async redirectToAuthorization(page: URL): Promise<void> {
    const { headers } = await fetch(page, {
      headers: { cookie: `user=${this.#user}` },
      redirect: 'manual',
    });
    this.callback = new URL(headers.get('location') ?? '').searchParams;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  saveDiscoveryState(discovered: OAuthDiscoveryState): void {
    this.#discovered = discovered;
  }
}

/**
 * Connects as a user who signs in first. The client of the SDK finds the authorization server by
 * the 401 of the server.
 */
export async function signIn(
  url: URL,
  { user, fetch }: { user: string; fetch?: FetchLike },
): Promise<Client> {
  const authProvider = new SignIn(user);
  const transport = (): StreamableHTTPClientTransport =>
    new StreamableHTTPClientTransport(url, {
      authProvider,
      ...(fetch === undefined ? {} : { fetch }),
    });
  const refused = transport();
  await assert.rejects(createClient().connect(refused), UnauthorizedError);
  assert(authProvider.callback !== undefined, 'the user was sent to sign in');
  await refused.finishAuth(authProvider.callback);
  const client = createClient();
  await client.connect(transport());
  return client;
}
