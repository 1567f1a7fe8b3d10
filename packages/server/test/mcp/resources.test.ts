import { resourceSaga, sleep, type ResourceResult } from '@mcp-saga/server';
import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { orderResource, reviewPrompt } from '../fixtures/prompts.ts';
import { ask } from '../fixtures/raw.ts';
import {
  accepted,
  asked,
  handlerOf,
  refusedState,
  round,
  sdkHandlerOf,
} from '../fixtures/rounds.ts';
import { asking } from '../fixtures/sagas.ts';

const uri = 'orders://eu/a%20b';
const order = { method: 'resources/read', uri } as const;
const inputResponses = { reason: accepted({ reason: 'an audit' }) };
const contents = [{ uri, mimeType: 'text/markdown', text: `${uri}: a b of eu, for an audit` }];

describe.each(connections)('$name', ({ connect }) => {
  test('[W1] lists the template of a resource, and no tool', async () => {
    const { client, close } = await connect(hostOf([orderResource(), asking()]).host);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      {
        name: 'order',
        title: 'Order',
        description: 'An order',
        uriTemplate: 'orders://{region}/{id}',
        mimeType: 'text/markdown',
      },
    ]);
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['asking']);
    await close();
  });

  test('rejects a URI without a template', async () => {
    const { client, close } = await connect(hostOf(orderResource()).host);
    await expect(client.readResource({ uri: 'orders://eu' })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('not found'),
    });
    await close();
  });
});

describe('a resource in rounds', () => {
  test('[P2] asks, and continues a resource on another host without repeating a step', async () => {
    const ran: string[] = [];
    const [one, other] = [hostOf(orderResource(ran)), hostOf(orderResource(ran))] as const;
    const { requestState, keys } = asked(await round(handlerOf(one.host), order));
    expect(keys).toEqual(['reason']);
    const { last } = await round(handlerOf(other.host), order, { requestState, inputResponses });
    expect(last.result).toMatchObject({ resultType: 'complete', contents });
    expect(ran).toEqual(['look']);
  });

  test('[T6] refuses a changed state, and a state of another URI, of a tool, or of a prompt', async () => {
    const { host } = hostOf([orderResource(), asking(), reviewPrompt()]);
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, order));
    const tool = asked(await round(server, { method: 'tools/call', name: 'asking' }));
    const prompt = {
      method: 'prompts/get',
      name: 'review',
      arguments: { language: 'Ada' },
    } as const;
    const prompted = asked(await round(server, prompt));
    const refusals = [
      await round(server, order, { requestState: `${requestState}A`, inputResponses }),
      await round(server, { ...order, uri: 'orders://eu/b' }, { requestState, inputResponses }),
      // The same order, otherwise written.
      await round(
        server,
        { ...order, uri: 'orders://eu/%61%20b' },
        { requestState, inputResponses },
      ),
      await round(server, order, { requestState: tool.requestState, inputResponses }),
      await round(server, order, { requestState: prompted.requestState, inputResponses }),
      await round(
        server,
        { method: 'tools/call', name: 'asking' },
        { requestState, inputResponses },
      ),
      await round(server, prompt, { requestState, inputResponses }),
    ];
    for (const { last } of refusals) expect(last).toMatchObject(refusedState);
  });
});

describe('a resource', () => {
  test('is not a tool of the saga methods', async () => {
    const server = handlerOf(hostOf(orderResource()).host);
    const { last } = await ask(server, 'modern', 'tools/callSaga', {
      name: 'order',
      arguments: { uri },
    });
    expect(last.error).toMatchObject({ code: -32_602, message: 'Unknown tool: "order"' });
  });

  test('is started by its name without MCP, which checks the URI', async () => {
    const { host } = hostOf(orderResource());
    expect(await host.start('order', { uri })).toMatchObject({ status: 'suspended' });
    await expect(host.start('order', { uri: 'orders://eu' })).rejects.toMatchObject({
      code: 'invalid_params',
      message:
        "Invalid arguments for 'order': uri: expected a URI of the form orders://{region}/{id}",
    });
    await expect(host.start('order', {})).rejects.toMatchObject({ code: 'invalid_params' });
  });

  test('may return contents of its own', async () => {
    const result: ResourceResult = { contents: [{ uri: 'orders://eu/1', blob: 'aGk=' }], ttlMs: 5 };
    const own = resourceSaga({ name: 'own', version: '1', uriTemplate: 'own://all' }, function* () {
      yield* sleep(0);
      return result;
    });
    const { last } = await round(handlerOf(hostOf(own).host), {
      method: 'resources/read',
      uri: 'own://all',
    });
    expect(last.result).toMatchObject(result);
  });

  test.each([
    ['a number', 5],
    ['no URI', { contents: [{ text: 'x' }] }],
    ['neither text nor blob', { contents: [{ uri: 'a:b' }] }],
    ['both text and blob', { contents: [{ uri: 'a:b', text: 'x', blob: 'eA==' }] }],
    ['a list of nothing', { contents: [null] }],
  ])('fails if its body returns %s', async (_, returned) => {
    const odd = resourceSaga(
      { name: 'odd', version: '1', uriTemplate: 'odd://{id}' },
      function* () {
        yield* sleep(0);
        return returned as never;
      },
    );
    const { host, told } = hostOf(odd);
    const { last } = await round(handlerOf(host), { method: 'resources/read', uri: 'odd://1' });
    expect(last.error).toMatchObject({ code: -32_603, message: "'odd' failed." });
    expect(told.turns).toMatchObject([{ status: 'failed', error: { code: 'invalid_result' } }]);
  });

  test('keeps other resources of the server: a fixed URI precedes a template', async () => {
    const { host } = hostOf(orderResource());
    const fixed = { contents: [{ uri: 'orders://eu/newest', text: 'fixed' }] };
    const server = sdkHandlerOf({
      ...host,
      attach: (mcp: McpServer) => {
        host.attach(mcp);
        mcp.registerResource('newest', 'orders://eu/newest', {}, () => fixed);
      },
    });
    const { last } = await round(server, { method: 'resources/read', uri: 'orders://eu/newest' });
    expect(last.result).toMatchObject(fixed);
    expect(asked(await round(server, order)).keys).toEqual(['reason']);
  });
});

// Over HTTP without sessions a client of 2025 can be asked nothing.
describe.each(connections.filter(({ stateless }) => stateless !== true))('$name', ({ connect }) => {
  test('[W1] [W2] reads a resource that asks the user', async () => {
    const ran: string[] = [];
    const { host, told } = hostOf(orderResource(ran));
    const { client, close } = await connect(host);
    answerBy(client, { elicit: () => accepted({ reason: 'an audit' }) });
    expect(await client.readResource({ uri })).toMatchObject({ contents });
    expect(ran).toEqual(['look']);
    expect(told.errors).toEqual([]);
    await close();
  });
});
