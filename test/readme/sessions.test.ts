import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { api } from './api.ts';

beforeAll(() => vi.stubEnv('SAGA_KEYS', generateKey()));
afterAll(() => vi.unstubAllEnvs());

const url = new URL('http://localhost/mcp');

type Fetch = (request: Request) => Promise<Response>;

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
    fetch: (to, init) => fetch(new Request(to, init)),
  });
  await client.connect(transport);
  return client;
}

const deployed = (client: Client): Promise<unknown> =>
  client.callTool({ name: 'deploy', arguments: { service: 'web' } });

it.each([
  { mode: undefined, version: '2025-11-25' },
  { mode: 'auto', version: '2026-07-28' },
] as const)('a client with mode $mode speaks $version, and is asked', async ({ mode, version }) => {
  api.released.clear();
  const { fetch } = await import('./sessions.ts');
  const client = await connected(fetch, mode);
  expect(client.getNegotiatedProtocolVersion()).toBe(version);
  expect(await deployed(client)).toMatchObject({
    content: [{ type: 'text', text: 'Released web-staging-1 to staging.' }],
  });
  await client.close();
});

it('a session of another process is not known', async () => {
  const { fetch } = await import('./sessions.ts');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = { 'content-type': 'application/json', 'mcp-session-id': 'of-another-process' };
  expect(await fetch(new Request(url, { method: 'POST', headers, body }))).toMatchObject({ status: 404 });
});

it('without a session a client of 2025 cannot be asked', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  const { default: sagas } = await import('./serve.ts');
  const client = await connected((request) => sagas.fetch(request));
  expect(await deployed(client)).toMatchObject({ isError: true });
  await client.close();
  vi.restoreAllMocks();
});
