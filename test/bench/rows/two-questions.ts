import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { all, createSagaHost, elicit, generateKey, saga } from '@mcp-saga/server';
import * as z from 'zod';
import { compare } from '../compare.ts';
import type { Candidate } from '../harness.ts';
import type { Row } from '../row.ts';

/**
 * A tool with two questions, from the call to the result. Each request gets a new server and passes
 * through the SDK's handler. Compares a saga with code written by hand on the SDK and its signing
 * codec.
 */
export const twoQuestions: Row = async ({ effort }) => [
  await compare('two-questions', [asSaga(), byHand()], effort),
];

const info = { name: 'bench', version: '1' };
const Input = z.object({ service: z.string(), replicas: z.number().int().optional() });
const Target = z.object({ target: z.string() });
const Window = z.object({ from: z.string(), hours: z.number() });
const where = 'Where to?';
const when = 'When may it restart?';

function asSaga(): Candidate {
  const deploy = saga(
    { name: 'deploy', version: '1', description: 'Deploys a service', input: Input },
    function* ({ service }) {
      const { target, window } = yield* all({
        target: elicit('target', { message: where, schema: Target }),
        window: elicit('window', { message: when, schema: Window }),
      });
      return `${service} goes to ${target.target} at ${window.from}.`;
    },
  );
  const host = createSagaHost({ sagas: [deploy], keys: generateKey(), name: 'bench' });
  return calling('mcp-saga', () => {
    const server = new McpServer(info);
    host.attach(server);
    return server;
  });
}

function byHand(): Candidate {
  const codec = createRequestStateCodec<{ readonly service: string }>({
    key: randomBytes(32),
    ttlSeconds: 3600,
    bind: (ctx: ServerContext) => ctx.mcpReq.method,
  });
  return calling('by hand, SDK codec, signed only', () => {
    const server = new McpServer(info, {
      requestState: { verify: (state, ctx) => codec.verify(state, ctx) },
    });
    server.registerTool(
      'deploy',
      { description: 'Deploys a service', inputSchema: Input },
      async ({ service }, ctx) => {
        const { inputResponses } = ctx.mcpReq;
        const target = acceptedContent(inputResponses, 'target', Target);
        const window = acceptedContent(inputResponses, 'window', Window);
        if (target === undefined || window === undefined) {
          return inputRequired({
            inputRequests: {
              target: inputRequired.elicit({ message: where, requestedSchema: Target }),
              window: inputRequired.elicit({ message: when, requestedSchema: Window }),
            },
            requestState: await codec.mint({ service }, ctx),
          });
        }
        return {
          content: [
            { type: 'text', text: `${service} goes to ${target.target} at ${window.from}.` },
          ],
        };
      },
    );
    return server;
  });
}

function calling(name: string, serve: () => McpServer): Candidate {
  const handler = createMcpHandler(serve);
  const call = async (
    more: object,
  ): Promise<{ readonly requestState?: string; readonly content?: unknown }> => {
    const response = await handler.fetch(requestOf(more));
    const { result } = (await response.json()) as {
      readonly result?: { readonly requestState?: string; readonly content?: unknown };
    };
    if (result === undefined) throw new Error(`${name} did not answer`);
    return result;
  };
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const { requestState } = await call({});
        const { content } = await call({ requestState, inputResponses });
        if (content === undefined) throw new Error(`${name} did not come to its end`);
      }
    },
  };
}

const inputResponses = {
  target: { action: 'accept', content: { target: 'production' } },
  window: { action: 'accept', content: { from: '22:00', hours: 2 } },
};

const key = 'io.modelcontextprotocol/';

function requestOf(more: object): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'deploy',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'deploy',
        arguments: { service: 'web', replicas: 2 },
        ...more,
        _meta: {
          [`${key}protocolVersion`]: '2026-07-28',
          [`${key}clientInfo`]: info,
          [`${key}clientCapabilities`]: { elicitation: { form: {} } },
        },
      },
    }),
  });
}
