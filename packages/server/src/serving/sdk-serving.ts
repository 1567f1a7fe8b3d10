// Imports only types and the SDK: without code splitting, bundlers wrap all imports of a module
// that `import()` loads.
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  type CreateMcpHandlerOptions,
} from '@modelcontextprotocol/server';
import type { ServerInfo } from './direct-response.ts';
import type { ServedRequest } from './serve-directly.ts';

/** Options of `sdkServing`. */
export interface SdkServingOptions {
  readonly serverInfo: ServerInfo;
  readonly handler: CreateMcpHandlerOptions | undefined;
  /** Registers sagas and extensions on the server of a request. */
  readonly attach: (server: McpServer, served: ServedRequest) => void;
  readonly onError: (error: unknown) => void;
}

/** Serves a request by the MCP SDK. */
export type SdkServing = (served: ServedRequest) => Promise<Response>;

/** Serves requests by the MCP SDK, with an `McpServer` per request. */
export function sdkServing({
  serverInfo,
  handler,
  attach,
  onError,
}: SdkServingOptions): SdkServing {
  const all = new WeakMap<Request, ServedRequest>();
  const createFor = (request: Request | undefined): McpServer => {
    const served = request === undefined ? undefined : all.get(request);
    if (served === undefined)
      throw new TypeError('The MCP SDK asked for the server of an unknown request.');
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
  // Shared by all requests, since it counts open streams.
  const shared = createMcpHandler(({ requestInfo }) => createFor(requestInfo), handler);
  return async (served) => {
    const { request } = served;
    all.set(request, served);
    const isHandedOn =
      'parsedBody' in served || request.method !== 'POST' || (await isModern(request, handler));
    // The SDK creates the server of other requests for a copy of the request.
    const mcp = isHandedOn ? shared : createMcpHandler(() => createFor(request), handler);
    const { user, ...given } = served;
    // Handlers of other tools receive the user as the SDK's auth info.
    return await mcp.fetch(request, {
      ...given,
      ...(user === undefined ? {} : { authInfo: user as never }),
    });
  };
}

/**
 * The lists of a server for one request never change. Announced as changeable, clients would keep a
 * stream open.
 */
function fixLists({ server }: McpServer): void {
  const capabilities = server.getCapabilities();
  for (const list of ['tools', 'prompts', 'resources'] as const)
    if (capabilities[list] !== undefined)
      server.registerCapabilities({ [list]: { listChanged: false } });
}

/** `true` for a request of MCP 2026-07-28, with its method in a header. */
async function isModern(
  request: Request,
  handler: CreateMcpHandlerOptions | undefined,
): Promise<boolean> {
  if (!request.headers.has('mcp-method')) return false;
  return !(await isLegacyRequest(request, undefined, handler));
}
