import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { inputRequired, createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { answerBy, quickstartAnswers } from '../fixtures/answer-by.ts';
import { hostOf } from '../fixtures/host.ts';
import type { Fetches } from '../fixtures/raw.ts';
import { accepted, asked, handlerOf, refusedState, round, said } from '../fixtures/rounds.ts';
import { asking, complexTool } from '../fixtures/sagas.ts';

const call = { name: 'complex_tool', arguments: { initial_arg: 'value' } };
const done = 'Deployment to production initiated successfully based on confirmation.';

async function clientOf(fetches: (request: Request) => Promise<Response>): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { elicitation: {}, sampling: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  const url = new URL('http://localhost/mcp');
  const fetch = (to: string | URL | Request, init?: RequestInit): Promise<Response> =>
    fetches(new Request(to, init));
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }));
  return client;
}

describe('the SDK client', () => {
  test('[P2] completes the quickstart with its requests alternating between two hosts', async () => {
    const keys: string[] = [];
    const serving = (): Fetches => handlerOf(hostOf(complexTool((key) => keys.push(key))).host);
    const [one, other] = [serving(), serving()] as const;
    let requests = 0;
    const client = await clientOf((request) =>
      ((requests += 1) % 2 === 0 ? one : other).fetch(request),
    );
    answerBy(client, quickstartAnswers);
    expect(await client.callTool(call)).toMatchObject({ content: [{ type: 'text', text: done }] });
    expect(keys).toHaveLength(1);
    await client.close();
  });

  test('completes the rounds by hand', async () => {
    const { host } = hostOf(complexTool());
    const client = await clientOf((request) => handlerOf(host).fetch(request));
    const manual = { allowInputRequired: true } as const;
    const first = await client.callTool(call, manual);
    expect(first).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'step-elicitation-A': { method: 'elicitation/create' } },
    });
    const more = async (before: unknown, inputResponses: object): Promise<unknown> => {
      const { requestState } = before as { readonly requestState: string };
      return await client.callTool({ ...call, requestState, inputResponses } as never, manual);
    };
    const second = await more(first, { 'step-elicitation-A': accepted({ target: 'production' }) });
    const third = await more(second, { 'step-sampling-B': said('Yes.') });
    expect(third).toMatchObject({ content: [{ type: 'text', text: done }] });
    await client.close();
  });
});

describe('beside other tools of a server', () => {
  const verified: string[] = [];
  const { host } = hostOf(asking());
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: 'beside', version: '1' },
      {
        requestState: {
          verify: (state) => {
            verified.push(state);
            if (!state.startsWith('own-')) throw new Error('not mine');
          },
        },
      },
    );
    const inputSchema = z.object({});
    server.registerTool('own', { inputSchema }, (_, { mcpReq }) => {
      if (mcpReq.requestState<string>() !== undefined)
        return { content: [{ type: 'text', text: 'own' }] };
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'Name?',
            requestedSchema: z.object({ name: z.string() }),
          }),
        },
        requestState: 'own-1',
      });
    });
    host.attach(server);
    return server;
  });
  const server: Fetches = { fetch: (request) => handler.fetch(request) };

  test('sagas continue without the verify hook of the server', async () => {
    const saga = { method: 'tools/call', name: 'asking' } as const;
    const { requestState } = asked(await round(server, saga));
    const inputResponses = { target: accepted({ target: 'moon' }) };
    const { last } = await round(server, saga, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'moon' }] });
    expect(verified).toEqual([]);
  });

  test('other tools continue with their verify hook', async () => {
    const own = { method: 'tools/call', name: 'own', arguments: {} } as const;
    const { requestState } = asked(await round(server, own));
    const inputResponses = { name: accepted({ name: 'Ada' }) };
    const { last } = await round(server, own, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'own' }] });
    expect(verified).toEqual(['own-1']);
    const refused = await round(server, own, { requestState: 'other', inputResponses });
    expect(refused.last).toMatchObject(refusedState);
  });
});
