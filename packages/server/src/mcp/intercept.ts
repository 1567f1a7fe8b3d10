import type { McpServerLike, RequestContextLike } from './sdk.ts';

/** A JSON-RPC request as the SDKs hand it to a handler. */
export interface RequestLike {
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
}

/** Answers a request. */
export type RequestHandler = (request: RequestLike, context: RequestContextLike) => Promise<object>;

/**
 * Goes before the handler that an `McpServer` has registered for a method of MCP's own, in either version of the SDK.
 *
 * The callbacks of `registerTool` come too late for sagas: what they throw becomes a tool result, while a token that is
 * refused has to be a JSON-RPC error; they see arguments that were parsed, while a token is bound to those that were
 * received; a server's own `requestState.verify`, made for its other tools, refuses a saga's token before they are
 * called; and what `tools/list` says cannot differ between clients. What is not a saga goes on to the handler that was
 * there, untouched.
 *
 * @throws TypeError where the SDK keeps its handlers elsewhere
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
      `This version of the MCP SDK keeps its handler of ${method} where it is not known. Use a version that the ` +
        'README names.',
    );
  }
  handlers.set(method, (request, context) => handle(request, context, next));
}
