import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { elicit, generateKey, saga, step, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import type { FigureId } from '../figures.ts';
import { measure, type Candidate } from '../harness.ts';
import { info, Input, Target, told as toldOf, tool, where } from '../load/tool.ts';
import type { Finding, Row } from '../row.ts';

/**
 * The first call of a saga, in each shape that hosts send: beside the trivial tool of the
 * SDK in the same shape, and with 1,000 sagas beside one. A shape that is served the slow way shows
 * here. Both sides get the request and give the response in this process, without HTTP.
 */
export const shapes: Row = async ({ effort }) => {
  const findings: Finding[] = [];
  const all = Object.entries(shapesOfHosts).map(
    ([name, shape]) => [name, candidatesOf(shape)] as const,
  );
  // All shapes share most of their code, which V8 compiles during the first of them.
  for (const [, candidates] of all)
    for (const { run } of candidates) await run(effort.warmUpMs * 5);
  for (const [name, [one, many, trivial]] of all) {
    const timings = await measure([one, many, trivial], effort);
    const finding = (figure: FigureId, ours: Candidate, peer: Candidate): Finding => {
      const { cpu, wall } = timings.of(ours.name);
      const value = timings.peerOf(ours.name, peer.name);
      return { figure, ours: cpu, wall, peers: [{ name: peer.name, value }] };
    };
    findings.push(
      finding(`shape-${name as ShapeName}`, one, trivial),
      finding(`shape-${name as ShapeName}-sagas`, many, one),
    );
  }
  return findings;
};

function candidatesOf(shape: Shape): readonly [Candidate, Candidate, Candidate] {
  // A client of 2025 without a session cannot be asked, so its saga runs a step to the end.
  const asks = shape.isOld !== true;
  const told = asks ? where : '"web';
  return [
    calling('1 saga', serveMany(1, asks), shape, told),
    calling('1,000 sagas', serveMany(1000, asks), shape, told),
    calling('trivial tool', serveTrivial(), shape, '"web"'),
  ];
}

/** How a request differs from the plainest one. */
interface Shape {
  readonly headers?: { readonly [name: string]: string };
  readonly meta?: object;
  readonly client?: object;
  /** `true` to send the body without a length. */
  readonly isChunked?: boolean;
  /** `true` for a request of MCP 2025-06-18, without a session. */
  readonly isOld?: boolean;
}

type ShapeName = 'plain' | 'progress' | 'charset' | 'chunked' | 'log-level' | 'icons' | '2025';

const prefix = 'io.modelcontextprotocol/';

const shapesOfHosts: { readonly [Name in ShapeName]: Shape } = {
  plain: {},
  // Each call of Claude Code.
  progress: { meta: { progressToken: 1 } },
  charset: { headers: { 'content-type': 'application/json; charset=utf-8' } },
  chunked: { isChunked: true },
  'log-level': { meta: { [`${prefix}logLevel`]: 'error' } },
  icons: { client: { icons: [{ src: 'https://example.com/icon.png', sizes: ['48x48'] }] } },
  '2025': { isOld: true },
};

interface Served {
  fetch(request: Request): Promise<Response>;
}

function serveMany(count: number, asks: boolean): Served {
  const deploy = (name: string): Program =>
    saga({ name, version: '1', description: tool.description, input: Input }, function* (args) {
      const { target } = asks
        ? yield* elicit('target', { message: where, schema: Target })
        : yield* step('target', () => ({ target: 'production' }));
      return toldOf(args.service, target, 'now');
    }) as Program;
  const sagas = Array.from({ length: count }, (_, index) =>
    deploy(index === 0 ? tool.name : `${tool.name}-${index}`),
  );
  return serveSagas({
    ...info,
    sagas,
    keys: generateKey(),
    testing: { environment: 'production' },
  });
}

function serveTrivial(): Served {
  return createMcpHandler(() => {
    const server = new McpServer(info);
    server.registerTool(
      tool.name,
      { description: tool.description, inputSchema: Input },
      ({ service }) => ({ content: [{ type: 'text', text: service }] }),
    );
    return server;
  });
}

/** @param told - part of the response, which a failed call lacks */
function calling(name: string, served: Served, shape: Shape, told: string): Candidate {
  const make = requestsOf(shape);
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const response = await served.fetch(make());
        const text = await response.text();
        if (response.status !== 200 || !text.includes(told) || text.includes('"isError"'))
          throw new Error(`${name} answered ${response.status}: ${text}`);
      }
    },
  };
}

function requestsOf({ headers = {}, meta, client, isChunked, isOld }: Shape): () => Request {
  const envelope = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { ...info, ...client },
    [`${prefix}clientCapabilities`]: { elicitation: { form: {} } },
  };
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: tool.name,
      arguments: { service: 'web', replicas: 2 },
      _meta: { ...(isOld === true ? {} : envelope), ...meta },
    },
  });
  const bytes = new TextEncoder().encode(body);
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(isChunked === true ? {} : { 'content-length': String(bytes.length) }),
    ...(isOld === true
      ? { 'mcp-protocol-version': '2025-06-18' }
      : {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': tool.name,
        }),
    ...headers,
  };
  return () => new Request('http://localhost/mcp', { method: 'POST', headers: all, body });
}
