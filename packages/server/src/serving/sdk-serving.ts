import { present } from '@mcp-saga/core/program';
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  type CreateMcpHandlerOptions,
} from '@modelcontextprotocol/server';
import { attachSagas } from '../mcp/attach.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { ServerInfo } from './encode-answer.ts';
import type { ServedRequest } from './served-request.ts';

/** Options of serving by the SDK. */
export interface SdkServingOptions {
  readonly serverInfo: ServerInfo;
  readonly handler: CreateMcpHandlerOptions | undefined;
  readonly extend: ((server: McpServer) => void) | undefined;
}

/** Answers a request by the MCP SDK. */
export type SdkServing = (served: ServedRequest) => Promise<Response>;

/** Serves requests by the MCP SDK, with an `McpServer` for each. */
export function sdkServing(
  host: SagaHostCore,
  { serverInfo, handler, extend }: SdkServingOptions,
): SdkServing {
  const all = new WeakMap<Request, ServedRequest>();
  const createFor = (request: Request | undefined): McpServer => {
    const served = request === undefined ? undefined : all.get(request);
    if (served === undefined) throw new TypeError('The MCP SDK handed on another request than it was given.');
    const { stepContext, waitUntil } = served;
    try {
      const server = new McpServer(serverInfo, { capabilities: { logging: {} } });
      attachSagas(host, server, { context: stepContext(), ...present({ waitUntil }) });
      extend?.(server);
      if (handler?.bus === undefined) fixLists(server);
      return server;
    } catch (error) {
      host.observer.hooks.onError(error);
      throw error;
    }
  };
  // One for all requests, since it counts the streams that are open.
  const shared = createMcpHandler(({ requestInfo }) => createFor(requestInfo), handler);
  return async (served) => {
    const { request, parsedBody, authInfo } = served;
    all.set(request, served);
    const isHandedOn =
      'parsedBody' in served || request.method !== 'POST' || (await isModern(request, handler));
    // The SDK makes the server of other requests for a copy of them.
    const mcp = isHandedOn ? shared : createMcpHandler(() => createFor(request), handler);
    return await mcp.fetch(request, present({ parsedBody, authInfo }));
  };
}

/** A server that lives for one request never changes its lists. Clients that were told otherwise keep a stream open for it. */
function fixLists({ server }: McpServer): void {
  const capabilities = server.getCapabilities();
  for (const list of ['tools', 'prompts', 'resources'] as const)
    if (capabilities[list] !== undefined) server.registerCapabilities({ [list]: { listChanged: false } });
}

/** `true` for a request of MCP 2026-07-28, which has to name its method in a header. */
async function isModern(
  request: Request,
  { maxRequestBodySize }: CreateMcpHandlerOptions = {},
): Promise<boolean> {
  if (!request.headers.has('mcp-method')) return false;
  return !(await isLegacyRequest(request, undefined, present({ maxRequestBodySize })));
}
