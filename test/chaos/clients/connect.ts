import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { Calling } from './way.ts';
import { steadyFetch } from './steady-fetch.ts';

/** The official SDK's client, in one of its versions and eras. */
export type Kind = 'v2 client, 2026-07-28' | 'v2 client, 2025-11-25' | 'v1 client';

const info = { name: 'chaos', version: '1.0.0' };

/** Options of a connection. */
export interface Connecting {
  readonly path?: string;
  /** Declared capabilities. */
  readonly capabilities: { readonly [name: string]: object };
  /** `again`: retries a request without a response. `once`: does not retry. Default: `again`. */
  readonly sends?: 'again' | 'once';
  /** Answers to the server's questions. */
  readonly answers?: Answers;
}

/** Results of the client's handlers. */
export interface Answers {
  form(message: string): Promise<object>;
  sample(text: string): Promise<object>;
}

/** The used part of either client's API. */
export interface Connected {
  request(request: object, schema: object, options?: object): Promise<unknown>;
  callTool(call: object, ...more: readonly object[]): Promise<unknown>;
  getServerCapabilities(): object | undefined;
  close(): Promise<void>;
}

/** Schema that accepts every value. */
export const anything = {
  '~standard': { version: 1, vendor: 'chaos', validate: (value: unknown) => ({ value }) },
} as const;

export const canAsk = { elicitation: { form: {} }, sampling: {} } as const;

/** Returns handlers that let the user of a call answer. */
export function answersOf({ user }: Calling): Answers {
  return { form: (message) => user.fill(message), sample: (text) => user.writes(text) };
}

/** Connects a client through the proxy, with retries. */
export async function connect(
  kind: Kind,
  { proxy, draw, user, key }: Calling,
  { path = '/mcp', capabilities, sends = 'again', answers }: Connecting,
): Promise<Connected> {
  const steady = steadyFetch(draw);
  let isConnected = false;
  const send: typeof fetch = (input, init) => {
    const named = withKey(key, init);
    return isConnected && sends === 'once' ? fetch(input, named) : steady(input, named);
  };
  const url = new URL(path, proxy);
  const client =
    kind === 'v1 client' ? version1(capabilities, answers) : version2(kind, capabilities, answers);
  // Without a limit, a client would try to reopen its notification stream forever after its process
  // died.
  const reconnectionOptions = {
    maxRetries: 0,
    initialReconnectionDelay: 1,
    maxReconnectionDelay: 1,
    reconnectionDelayGrowFactor: 1,
  };
  const transport =
    kind === 'v1 client'
      ? new HttpV1(url, { fetch: send, reconnectionOptions })
      : new StreamableHTTPClientTransport(url, { fetch: send, reconnectionOptions });
  await client.connect(transport, { timeout: 60_000, signal: user.left });
  isConnected = true;
  return client as unknown as Connected;
}

/** Adds the key of a call to a request. The server reads it in a first call only. */
export function withKey(key: string | undefined, init: RequestInit = {}): RequestInit {
  if (key === undefined) return init;
  const headers = new Headers(init.headers);
  headers.set('idempotency-key', key);
  return { ...init, headers };
}

function version2(
  kind: Kind,
  capabilities: Connecting['capabilities'],
  answers: Answers | undefined,
): Client {
  const mode = kind === 'v2 client, 2026-07-28' ? 'auto' : 'legacy';
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  if (answers === undefined) return client;
  client.setRequestHandler(
    'elicitation/create',
    async ({ params }) => (await answers.form(params.message)) as never,
  );
  client.setRequestHandler(
    'sampling/createMessage',
    async ({ params }) => (await answers.sample(JSON.stringify(params.messages))) as never,
  );
  return client;
}

function version1(
  capabilities: Connecting['capabilities'],
  answers: Answers | undefined,
): ClientV1 {
  const client = new ClientV1(info, { capabilities });
  if (answers === undefined) return client;
  client.setRequestHandler(
    ElicitRequestSchema,
    async ({ params }) => (await answers.form(params.message)) as never,
  );
  client.setRequestHandler(
    CreateMessageRequestSchema,
    async ({ params }) => (await answers.sample(JSON.stringify(params.messages))) as never,
  );
  return client;
}
