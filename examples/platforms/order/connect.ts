import {
  Client,
  type FetchLike,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

export interface ConnectOptions {
  /** The user's access token. */
  readonly token?: string;
  /** Sends the requests. */
  readonly fetch?: FetchLike;
}

const answers: { readonly [question: string]: Record<string, number | boolean> } = {
  'How many umbrellas?': { quantity: 3 },
  '3 umbrellas: order them?': { sure: true },
};

/** Client of the official SDK. The user answers the questions of `order`. */
export function createClient(): Client {
  const client = new Client(
    { name: 'shopper', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const content = answers[params.message];
    return content === undefined ? { action: 'cancel' } : { action: 'accept', content };
  });
  return client;
}

/** Connects the client over HTTP. */
export async function connect(url: URL, { token, fetch }: ConnectOptions = {}): Promise<Client> {
  const client = createClient();
  const transport = new StreamableHTTPClientTransport(url, {
    ...(fetch === undefined ? {} : { fetch }),
    ...(token === undefined ? {} : { authProvider: { token: async () => token } }),
  });
  await client.connect(transport);
  return client;
}

/** Alternates requests between servers like a load balancer, for any host name. */
export function inTurns(servers: readonly { readonly url: URL }[]): FetchLike {
  let requests = 0;
  return (url, init) => {
    const server = servers[requests++ % servers.length];
    if (server === undefined) throw new TypeError('There is no server.');
    return fetch(new URL(new URL(url).pathname, server.url), init);
  };
}
