// Only types and the SDK: bundlers without code splitting wrap all that a module loaded by `import()` imports itself.
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  type CreateMcpHandlerOptions,
} from '@modelcontextprotocol/server';
import type { ServerInfo } from './encode-answer.ts';
import type { ServedRequest } from './served-request.ts';

/** Options of serving by the SDK. */
export interface SdkServingOptions {
  readonly serverInfo: ServerInfo;
  readonly handler: CreateMcpHandlerOptions | undefined;
  /** Registers sagas and extensions on the server of a request. */
  readonly attach: (server: McpServer, served: ServedRequest) => void;
  readonly onError: (error: unknown) => void;
}

/** Answers a request by the MCP SDK. */
export type SdkServing = (served: ServedRequest) => Promise<Response>;

/** Serves requests by the MCP SDK, with an `McpServer` for each. */
export function sdkServing({ serverInfo, handler, attach, onError }: SdkServingOptions): SdkServing {
  const all = new WeakMap<Request, ServedRequest>();
  const createFor = (request: Request | undefined): McpServer => {
    const served = request === undefined ? undefined : all.get(request);
    if (served === undefined) throw new TypeError('The MCP SDK handed on another request than it was given.');
    try {
      const server = new McpServer(serverInfo, { capabilities: { logging: {} } });
      attach(server, served);
      if (handler?.bus === undefined) fixLists(server);
      return server;
    } catch (error) {
      onError(error);
      throw error;
    }
  };
  // One for all requests, since it counts the streams that are open.
  const shared = createMcpHandler(({ requestInfo }) => createFor(requestInfo), handler);
  return async (served) => {
    const { request } = served;
    all.set(request, served);
    const isHandedOn =
      'parsedBody' in served || request.method !== 'POST' || (await isModern(request, handler));
    // The SDK makes the server of other requests for a copy of them.
    const mcp = isHandedOn ? shared : createMcpHandler(() => createFor(request), handler);
    return await mcp.fetch(request, served);
  };
}

/** A server that lives for one request never changes its lists. Clients that were told otherwise keep a stream open for it. */
function fixLists({ server }: McpServer): void {
  const capabilities = server.getCapabilities();
  for (const list of ['tools', 'prompts', 'resources'] as const)
    if (capabilities[list] !== undefined) server.registerCapabilities({ [list]: { listChanged: false } });
}

/** `true` for a request of MCP 2026-07-28, which has to name its method in a header. */
async function isModern(request: Request, handler: CreateMcpHandlerOptions | undefined): Promise<boolean> {
  if (!request.headers.has('mcp-method')) return false;
  return !(await isLegacyRequest(request, undefined, handler));
}
