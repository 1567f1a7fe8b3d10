import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callSaga } from '@mcp-saga/client';
import { generateKey } from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { notes } from './servers/tool.ts';
import { expectLogs } from '../support/logs.ts';
import { rejectionLog } from '../support/known-logs.ts';

const info = { name: 'reader', version: '1' };
const accepted = { action: 'accept', content: { sure: true } } as const;
const keys = generateKey();
const inProcess = new URL('http://localhost/mcp');
const open: (() => unknown)[] = [];

beforeAll(() => vi.stubEnv('SAGA_KEYS', keys));
afterAll(() => vi.unstubAllEnvs());
beforeEach(() => void notes.splice(0));
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** Listens on a free port. */
async function listen(server: Server): Promise<URL> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  server.unref();
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A client of MCP 2026-07-28 that accepts all questions. `fetch`: reaches a server without a
 * socket.
 */
async function modern(url: URL, fetchServer?: Fetch): Promise<Client> {
  const client = new Client(info, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: 'auto' },
  });
  client.setRequestHandler('elicitation/create', () => accepted);
  const options = fetchServer === undefined ? {} : { fetch: fetchServer };
  await client.connect(new StreamableHTTPClientTransport(url, options));
  open.push(() => client.close());
  return client;
}

async function keepsNote(client: Client): Promise<void> {
  const result = await client.callTool({ name: 'note', arguments: { text: 'milk' } });
  expect(result.content).toEqual([{ type: 'text', text: 'Kept.' }]);
  const handlers = { elicitation: () => accepted };
  const again = await callSaga(client, { name: 'note', arguments: { text: 'eggs' } }, { handlers });
  expect(again.content).toEqual([{ type: 'text', text: 'Kept.' }]);
  expect(notes).toEqual(['milk', 'eggs']);
}

describe('a saga in an existing server', () => {
  it('runs in an app of Express, with and without a body parser', async () => {
    const { app } = await import('./servers/express.ts');
    const url = await listen(createServer(app as RequestListener));
    await keepsNote(await modern(url));
    expect(await (await fetch(new URL('/health', url))).text()).toBe('ok');
    notes.splice(0);
    const { app: parsing } = await import('./servers/express-json.ts');
    await keepsNote(await modern(await listen(createServer(parsing as RequestListener))));
  });

  it('runs in an app of Fastify', async () => {
    const { app } = await import('./servers/fastify.ts');
    await app.listen({ port: 0, host: '127.0.0.1' });
    open.push(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    await keepsNote(await modern(new URL(`http://127.0.0.1:${port}/mcp`)));
  });

  it('runs in an app of Hono', async () => {
    const { app } = await import('./servers/hono.ts');
    const fetchApp = async (url: string | URL, init?: RequestInit): Promise<Response> =>
      await app.request(new Request(url, init));
    await keepsNote(await modern(inProcess, fetchApp));
  });

  it('runs in a route handler of Next', async () => {
    const route = await import('./servers/next/app/mcp/route.ts');
    const methods: { readonly [name: string]: (request: Request) => Promise<Response> } = route;
    const fetchRoute = async (url: string | URL, init: RequestInit = {}): Promise<Response> =>
      (await methods[init.method ?? 'GET']?.(new Request(url, init))) ??
      new Response(null, { status: 405 });
    await keepsNote(await modern(inProcess, fetchRoute));
  });

  it('attaches to a server of SDK 2, without a session', async () => {
    const { createServer: make } = await import('./servers/attach.ts');
    const handler = createMcpHandler(make);
    const fetchHandler = (url: string | URL, init?: RequestInit): Promise<Response> =>
      handler.fetch(new Request(url, init));
    await keepsNote(await modern(inProcess, fetchHandler));
  });

  it('attaches to a server of SDK 1 with sessions, and asks a client of MCP 2025', async () => {
    const { app } = await import('./servers/sessions.ts');
    const client = new ClientV1(info, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ ...accepted }));
    await client.connect(new TransportV1(await listen(createServer(app as RequestListener))));
    open.push(() => client.close());
    const result = await client.callTool({ name: 'note', arguments: { text: 'milk' } });
    expect(result['content']).toEqual([{ type: 'text', text: 'Kept.' }]);
    expect(notes).toEqual(['milk']);
  });

  it('of SDK 1 lets Alice alone call a saga, by the auth info of the request', async () => {
    const { createServer: make } = await import('./servers/users.ts');
    const callAs = async (user: string): Promise<unknown> => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const send = near.send.bind(near);
      const authInfo = { token: 'secret', clientId: 'web', scopes: [], extra: { user } };
      near.send = (message) => send(message, { authInfo });
      const client = new ClientV1(info, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, () => ({ ...accepted }));
      await make().connect(far);
      await client.connect(near);
      open.push(() => client.close());
      return await client.callTool({ name: 'note', arguments: { text: user } });
    };
    expect(await callAs('alice')).toMatchObject({ content: [{ text: 'Kept.' }] });
    await expect(callAs('bob')).rejects.toThrow('Not allowed: note');
    expect(notes).toEqual(['alice']);
  });

  it('starts sagas for a user, and for anyone who has the token', async () => {
    expectLogs(rejectionLog('principal'));
    const { host, startFor, startForAnyone } = await import('./servers/callers.ts');
    const ann = { issuer: 'https://login.example', subject: 'ann', client: 'web' };
    const sure = [{ stepId: 'sure', result: accepted }];
    const token = (await startFor(ann, 'milk')) ?? '';
    for (const caller of ['anonymous', { principal: { ...ann, subject: 'bob' } }] as const)
      await expect(host.resume(token, sure, { caller })).rejects.toMatchObject({
        reason: 'principal',
      });
    await host.resume(token, sure, { caller: { principal: ann } });
    const anyones = (await startForAnyone('eggs')) ?? '';
    await host.resume(anyones, sure, { caller: 'anonymous' });
    expect(notes).toEqual(['milk', 'eggs']);
  });

  it('asks over stdio', async () => {
    const client = new Client(info, { capabilities: { elicitation: {} } });
    client.setRequestHandler('elicitation/create', () => accepted);
    const program = new URL('./servers/stdio.ts', import.meta.url).pathname;
    await bundleForNode(program);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...runBundles, program],
      env: { ...(process.env as Record<string, string>), SAGA_KEYS: keys },
    });
    await client.connect(transport);
    open.push(() => client.close());
    const { content } = await client.callTool({ name: 'note', arguments: { text: 'milk' } });
    expect(content).toEqual([{ type: 'text', text: 'Kept.' }]);
  });
});
