import type { McpServerLike, RequestContextLike } from './sdk.ts';

/** A JSON-RPC request as the SDKs hand it to a handler. */
export interface RequestLike {
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
}

/** Answers a request. */
export type RequestHandler = (request: RequestLike, context: RequestContextLike) => Promise<object>;

/**
 * Runs before the handler that an `McpServer` of either SDK registered for a method of MCP.
 *
 * Callbacks of `registerTool` come too late: their errors become tool results, their arguments are already parsed, the
 * server's `requestState.verify` refuses tokens of sagas, and `tools/list` cannot differ between clients. Throws TypeError if the SDK
 * keeps its handlers elsewhere.
 */
export function intercept(
  server: McpServerLike,
  method: string,
  handle: (request: RequestLike, context: RequestContextLike, next: RequestHandler) => Promise<object>,
): void {
  const { _requestHandlers: handlers } = server.server as {
    readonly _requestHandlers?: Map<string, RequestHandler>;
  };
  const next = handlers?.get(method);
  if (handlers === undefined || next === undefined) {
    throw new TypeError(
      `This version of the MCP SDK has no known handler of ${method}. Use a version that the ` +
        'README names.',
    );
  }
  handlers.set(method, (request, context) => handle(request, context, next));
}
