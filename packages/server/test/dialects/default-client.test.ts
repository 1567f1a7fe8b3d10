/** The official client with its default protocol version, 2025-11-25, over HTTP. */
import {
  Client,
  StreamableHTTPClientTransport,
  type ClientOptions,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { SagaHostOptions } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { served } from '../fixtures/calling.ts';
import { serverV1 } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking, complexTool } from '../fixtures/sagas.ts';

const declared = { capabilities: { elicitation: {}, sampling: {} } };

/** Calls a tool with a client that answers questions. */
async function called(sagas: SagaHostOptions['sagas'], options: ClientOptions): Promise<object> {
  const { server } = served(sagas);
  const client = new Client({ name: 'test', version: '1' }, options);
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { target: 'here' },
  }));
  const url = new URL('http://localhost/mcp');
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      fetch: (to, init) => server.fetch(new Request(to, init)),
    }),
  );
  const result = await client.callTool({
    name: sagas[0]?.name ?? '',
    arguments: { initial_arg: 'value' },
  });
  await client.close();
  return result;
}

describe('a client that declares elicitation', () => {
  test('[W3] gets the reason why it cannot be asked, and the option to set', async () => {
    const result = await called([complexTool()], declared);
    expect(result).toMatchObject({ isError: true });
    const text = JSON.stringify(result);
    for (const remedy of [
      "versionNegotiation: { mode: 'auto' }",
      '2025-11-25',
      'sessions',
      'stdio',
      'callSaga',
    ])
      expect(text).toContain(remedy);
    expect(text).not.toContain('declared');
  });

  test('[W3] gets no advice that cannot work at a server of version 1 of the SDK', async () => {
    const { host } = hostOf(complexTool());
    const answer = async (request: Request): Promise<Response> => {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await serverV1(host).connect(transport);
      return transport.handleRequest(request);
    };
    const client = new ClientV1({ name: 'test', version: '1' }, declared);
    const url = new URL('http://localhost/mcp');
    await client.connect(new HttpV1(url, { fetch: (to, init) => answer(new Request(to, init)) }));
    const { isError, content } = await client.callTool({
      name: 'complex_tool',
      arguments: { initial_arg: 'value' },
    });
    await client.close();
    expect(isError).toBe(true);
    const text = JSON.stringify(content);
    expect(text).not.toContain('versionNegotiation');
    for (const remedy of ['sessionIdGenerator', 'stdio', 'version 2 of the SDK', 'callSaga'])
      expect(text).toContain(remedy);
  });

  test('[W3] is asked once that is set', async () => {
    const options = { ...declared, versionNegotiation: { mode: 'auto' } } as const;
    expect(await called([asking()], options)).toMatchObject({ content: [{ text: 'here' }] });
  });
});
