import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
  type RawClientDispatch,
} from '@modelcontextprotocol/ext-tasks/client';
import type { Client } from '@modelcontextprotocol/client';
import { answersOf, canAsk, connect, withKey } from './connect.ts';
import { steadyFetch } from './steady-fetch.ts';
import { calledToTheEnd, judged, type Calling, type Way } from './way.ts';

const capabilities = { ...canAsk, extensions: { 'io.modelcontextprotocol/tasks': {} } } as const;
const info = { name: 'chaos', version: '1.0.0' };

/** Tasks, with the client of the tasks extension. */
export const tasks: Way = {
  dialect: 'tasks',
  client: 'ext-tasks on the v2 client',
  see: async (calling) => {
    const { user, tool, arguments: args } = calling;
    const client = (await connect('v2 client, 2026-07-28', calling, {
      capabilities,
    })) as unknown as Client;
    const answers = answersOf(calling);
    const session = createTaskSessionFromClient(client, {
      endpointId: 'chaos',
      // Each error is also thrown, so this handler ignores it.
      onError: () => undefined,
      rawDispatch: dispatching(calling),
      v2RequestFraming: {
        protocolVersion: '2026-07-28',
        clientInfo: info,
        clientCapabilities: capabilities,
      },
      onInputRequest: async (request, { taskId }) => {
        const { message = '', messages } = request.params as {
          readonly message?: string;
          readonly messages?: unknown;
        };
        if (user.habit === 'gives up' && taskId !== undefined) await session.task(taskId).cancel();
        return (await (request.kind === 'sampling'
          ? answers.sample(JSON.stringify(messages))
          : answers.form(message))) as never;
      },
    });
    try {
      return await calledToTheEnd(args, async (given) => {
        const execution = await session.callTool(tool, given, { signal: user.left });
        const { outcome } = await execution.settle({ signal: user.left });
        return resultOf(outcome);
      });
    } catch (error) {
      user.left.throwIfAborted();
      throw judged(error);
    } finally {
      await session.close();
      await client.close();
    }
  },
};

function resultOf(outcome: {
  readonly status: string;
  readonly result?: unknown;
  readonly error?: Error;
  readonly task?: { readonly statusMessage?: string };
}): unknown {
  if (outcome.status === 'completed') return outcome.result;
  const text = outcome.task?.statusMessage ?? outcome.error?.message ?? outcome.status;
  return { content: [{ text }], isError: true };
}

/** Sends requests whose methods the SDK's client does not support. */
function dispatching({ proxy, draw, user, key }: Calling): RawClientDispatch {
  const send = steadyFetch(draw);
  let id = 0;
  return async (request) => {
    id += 1;
    const { method, params } = request as {
      readonly method: string;
      readonly params: { readonly name?: string; readonly taskId?: string };
    };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.taskId ?? params.name ?? '',
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const init = withKey(key, { method: 'POST', headers, body, signal: user.left });
    const response = await send(new URL('/mcp', proxy), init);
    const { result, error } = lastMessage(await response.text());
    return (
      error === undefined ? { kind: 'result', result } : { kind: 'error', error }
    ) as JsonRpcResponse;
  };
}

function lastMessage(body: string): { readonly result?: object; readonly error?: object } {
  const data = body.startsWith('{')
    ? [body]
    : [...body.matchAll(/^data: ?(\{.*)$/gm)].map(([, text]) => text ?? '');
  return JSON.parse(data.at(-1) ?? '{}') as { readonly result?: object };
}
