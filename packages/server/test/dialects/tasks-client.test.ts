import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
  type RawClientDispatch,
} from '@modelcontextprotocol/ext-tasks/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { all, elicit, memoryStore, saga, step, type SagaHost } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { start } from '../fixtures/clock.ts';
import { serverV2 } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { read } from '../fixtures/raw.ts';
import { knowsTasks } from '../fixtures/task-client.ts';
import { Target } from '../fixtures/task-sagas.ts';

const url = new URL('http://localhost/mcp');
const info = { name: 'test', version: '1' };

/** A session of the extension's own client, with a host. */
async function sessionWith(host: SagaHost, answer: (message: string) => string) {
  const handler = createMcpHandler(() => serverV2(host));
  const client = new Client(info, {
    capabilities: knowsTasks,
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  });
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      fetch: (to, init) => handler.fetch(new Request(to, init)),
    }),
  );
  let id = 0;
  const rawDispatch: RawClientDispatch = async (request) => {
    id += 1;
    const { method, params } = request as {
      method: string;
      params: { name?: string; taskId?: string };
    };
    const response = await handler.fetch(
      new Request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          'mcp-name': params.taskId ?? params.name ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      }),
    );
    const { last } = await read(response);
    return (
      last.error === undefined
        ? { kind: 'result', result: last.result }
        : { kind: 'error', error: last.error }
    ) as JsonRpcResponse;
  };
  const keys: string[] = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: 'test',
    rawDispatch,
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: info,
      clientCapabilities: knowsTasks,
    },
    onInputRequest: async (request, { delivery, inputId }) => {
      keys.push(`${delivery} ${inputId}`);
      const { message } = request.params as { readonly message: string };
      return { action: 'accept', content: { target: answer(message) } } as never;
    },
  });
  return { session, keys, close: () => client.close() };
}

test('[W1] the client of the extension calls a saga, answers its questions, and gets its result', async () => {
  const asking = saga({ name: 'asking', version: '1', task: 'prefer' }, function* () {
    const { target } = yield* elicit('first', { message: 'First?', schema: Target });
    yield* step('between', () => 1);
    const { one, other } = yield* all({
      one: elicit('one', { message: 'One?', schema: Target }),
      other: elicit('other', { message: 'Other?', schema: Target }),
    });
    return `${target} ${one.target} ${other.target}`;
  });
  const { host, told } = hostOf(asking, {
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock: () => start }),
  });
  const { session, keys, close } = await sessionWith(host, (message) => message.toLowerCase());
  const execution = await session.callTool('asking', {});
  const { outcome } = await execution.settle();
  expect(outcome).toMatchObject({
    result: { content: [{ type: 'text', text: 'first? one? other?' }] },
  });
  expect(keys.toSorted()).toEqual(['request-retry first', 'task-update one', 'task-update other']);
  expect(told.errors).toEqual([]);
  await session.close();
  await close();
});
