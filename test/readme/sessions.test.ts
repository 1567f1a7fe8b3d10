import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { api } from './api.ts';

beforeAll(() => vi.stubEnv('SAGA_KEYS', generateKey()));
afterAll(() => vi.unstubAllEnvs());

const url = new URL('http://localhost/mcp');

type Fetch = (request: Request) => Promise<Response>;

/** A request that names its host, as all do that come over a socket. */
function named(request: Request, headers: Record<string, string> = {}): Request {
  for (const [name, value] of Object.entries({ host: 'localhost', ...headers }))
    request.headers.set(name, value);
  return request;
}

/** A client that answers all it is asked, as the SDK makes one by default, or with `auto`. */
async function connected(fetch: Fetch, mode?: 'auto'): Promise<Client> {
  const client = new Client(
    { name: 'reader', version: '1' },
    {
      capabilities: { elicitation: {}, sampling: {} },
      ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
    },
  );
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { target: 'staging' },
  }));
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    model: 'any',
    content: { type: 'text', text: 'Yes' },
  }));
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: (to, init) => fetch(named(new Request(to, init))),
  });
  await client.connect(transport);
  return client;
}

const deployed = (client: Client): Promise<unknown> =>
  client.callTool({ name: 'deploy', arguments: { service: 'web' } });

it.each([
  { mode: undefined, version: '2025-11-25' },
  { mode: 'auto', version: '2026-07-28' },
] as const)(
  'a client with mode $mode speaks $version, and gets questions',
  async ({ mode, version }) => {
    api.released.clear();
    const { fetch } = await import('./sessions.ts');
    const client = await connected(fetch, mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(await deployed(client)).toMatchObject({
      content: [{ type: 'text', text: 'Released web-staging-1 to staging.' }],
    });
    await client.close();
  },
);

it('a session of another process is rejected', async () => {
  const { fetch } = await import('./sessions.ts');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'content-type': 'application/json', 'mcp-session-id': 'of-another-process' };
  const sent = named(new Request(url, { method: 'POST', headers, body }));
  expect(await fetch(sent)).toMatchObject({ status: 404 });
});

it.each<[Record<string, string>, boolean]>([
  [{ host: 'localhost:3000' }, false],
  [{ host: 'evil.example' }, true],
  [{ origin: 'http://localhost:6274' }, false],
  [{ origin: 'https://evil.example' }, true],
])('a request with the headers %j is refused: %s', async (headers, isRefused) => {
  const { fetch } = await import('./sessions.ts');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const { status } = await fetch(named(new Request(url, init), headers));
  expect(status === 403).toBe(isRefused);
});

it('without a session, a server cannot ask a client of 2025', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  const { default: sagas } = await import('./serve.ts');
  const client = await connected((request) => sagas.fetch(request));
  expect(await deployed(client)).toMatchObject({ isError: true });
  await client.close();
  vi.restoreAllMocks();
});

describe('sessions that clients leave open', () => {
  const minute = 60_000;

  /** A copy of the module with no session open, at a time that the test moves. */
  async function served(): Promise<Fetch> {
    vi.resetModules();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { fetch } = await import('./sessions.ts');
    return fetch;
  }

  const post = (
    fetch: Fetch,
    method: string,
    params: object,
    session?: string,
  ): Promise<Response> =>
    fetch(
      new Request(url, {
        method: 'POST',
        headers: {
          host: 'localhost',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    );

  async function opened(fetch: Fetch): Promise<string | null> {
    const clientInfo = { name: 'reader', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const response = await post(fetch, 'initialize', params);
    await response.body?.cancel();
    return response.headers.get('mcp-session-id');
  }

  const statusOf = async (fetch: Fetch, session: string | null): Promise<number> =>
    (await post(fetch, 'tools/list', {}, session ?? '')).status;

  it('end after half an hour without use', async () => {
    const fetch = await served();
    const [left, used] = [await opened(fetch), await opened(fetch)];
    vi.setSystemTime(Date.now() + 29 * minute);
    expect(await statusOf(fetch, used)).toBe(200);
    vi.setSystemTime(Date.now() + 2 * minute);
    expect(await statusOf(fetch, left)).toBe(404);
    expect(await statusOf(fetch, used)).toBe(200);
  });

  it('are limited to 1,000, and new ones may open after others have ended', async () => {
    const fetch = await served();
    for (let count = 0; count < 1_000; count += 1) {
      expect(await opened(fetch)).not.toBeNull();
    }
    expect((await post(fetch, 'initialize', {})).status).toBe(503);
    vi.setSystemTime(Date.now() + 31 * minute);
    expect(await opened(fetch)).not.toBeNull();
  });
});
