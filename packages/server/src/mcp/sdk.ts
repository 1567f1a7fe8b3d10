import { present } from '@mcp-saga/core/program';
import type { Json, LogLevel } from '@mcp-saga/core';
import type { SendOptions, WireRequest } from '../model/client-call.ts';
import type { Caller } from '../model/caller.ts';

/** Parts of the MCP SDK in use, of version 1 and 2: known by structure, so that neither must be installed. */
export interface McpServerLike {
  readonly server: ProtocolServerLike;
  registerTool(name: string, config: never, callback: never): unknown;
}

/** The protocol server inside an `McpServer`. */
export interface ProtocolServerLike {
  setRequestHandler(...args: never): void;
  registerCapabilities(capabilities: never): void;
  getClientCapabilities(): unknown;
}

/** The part of a server that knows the client of a session. */
export interface ClientSource {
  readonly server: Pick<ProtocolServerLike, 'getClientCapabilities'>;
}

/** What a request handler gets beside the request, in version 2 (`mcpReq`) or version 1. */
export interface RequestContextLike {
  readonly mcpReq?: {
    readonly id?: string | number;
    readonly requestState?: () => unknown;
    readonly inputResponses?: unknown;
    /** The keys of responses that are not even objects, or are wrapped into something. */
    readonly droppedInputResponseKeys?: readonly string[];
    readonly send?: (request: WireRequest, ...more: readonly unknown[]) => Promise<unknown>;
    readonly _meta?: Meta;
    readonly envelope?: { readonly [key: string]: unknown };
    readonly signal?: AbortSignal;
    readonly notify?: (notification: WireRequest) => Promise<void>;
    readonly log?: (level: LogLevel, data: Json) => Promise<void>;
  };
  readonly http?: { readonly authInfo?: unknown; readonly req?: unknown };
  readonly requestId?: string | number;
  /** The headers of the HTTP request, in version 1. */
  readonly requestInfo?: unknown;
  readonly sendRequest?: (request: WireRequest, schema: unknown, options?: object) => Promise<unknown>;
  readonly _meta?: Meta;
  readonly signal?: AbortSignal;
  readonly sessionId?: string;
  readonly authInfo?: unknown;
  readonly sendNotification?: (notification: WireRequest) => Promise<void>;
}

interface Meta {
  readonly progressToken?: string | number;
  readonly [key: string]: unknown;
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** Whether a server is of version 2 of the SDK. */
export function isVersion2(server: McpServerLike): boolean {
  return (
    typeof (server.server as { readonly projectCallToolResult?: unknown }).projectCallToolResult ===
    'function'
  );
}

/** Registers a handler for a method that is not MCP's own, in the form each version wants. */
export function setMethodHandler(
  server: McpServerLike,
  method: string,
  handle: (params: unknown, context: RequestContextLike) => Promise<object>,
): void {
  const protocol = server.server as { setRequestHandler(...args: readonly unknown[]): void };
  if (isVersion2(server)) {
    // Params are checked by the dialect, which names the field; this schema lets all of them through.
    const params = {
      '~standard': { version: 1, vendor: 'mcp-saga', validate: (value: unknown) => ({ value }) },
    };
    protocol.setRequestHandler(method, { params }, handle);
    return;
  }
  const request = {
    shape: { method: { value: method } },
    safeParse: (data: unknown) => ({ success: true, data }),
    parse: (data: unknown) => data,
  };
  protocol.setRequestHandler(
    request,
    async (sent: { readonly params?: unknown }, context: RequestContextLike) => handle(sent.params, context),
  );
}

/** What the client of a request declared; undefined where that is not known. */
export function capabilitiesOf(server: ClientSource, context: RequestContextLike): Json | undefined {
  const { envelope } = context.mcpReq ?? {};
  return (envelope?.[capabilitiesKey] ?? server.server.getClientCapabilities()) as Json | undefined;
}

/** Sends the client requests that belong to the one being answered. */
export function senderOf(
  context: RequestContextLike,
): (request: WireRequest, options: SendOptions) => Promise<unknown> {
  const { mcpReq, sendRequest } = context;
  return async (request, options) => {
    // What comes back is checked by the saga's step, in either version.
    if (mcpReq?.send !== undefined) return await mcpReq.send(request, anyResult, options);
    if (sendRequest !== undefined) return await sendRequest(request, anyResult, options);
    throw new TypeError('This server cannot send requests to its client.');
  };
}

/** Tells the client something that belongs to the request being answered. */
export function notifierOf(context: RequestContextLike): (notification: WireRequest) => Promise<void> {
  const notify = context.mcpReq?.notify ?? context.sendNotification;
  return async (notification) => await notify?.(notification);
}

/** A schema that lets everything through, in the form of either version of the SDK. */
const anyResult = {
  '~standard': { version: 1, vendor: 'mcp-saga', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
  parse: (data: unknown) => data,
};

/** Who sent a request, and what came with it. */
export function toCaller(server: ClientSource, context: RequestContextLike, stepContext: unknown): Caller {
  const request = context.mcpReq;
  const signal = request?.signal ?? context.signal;
  const authInfo = context.http?.authInfo ?? context.authInfo;
  const capabilities = capabilitiesOf(server, context);
  const notify = notifierOf(context);
  const { progressToken, traceparent, tracestate } = request?.['_meta'] ?? context['_meta'] ?? {};
  // The answer does not wait for news about it, and does not fail with them.
  const tell = (notification: WireRequest): void => void notify(notification).catch(() => undefined);
  return {
    context: stepContext,
    ...present({ signal, authInfo, capabilities }),
    // Reserved there since 2026-07-28, without a prefix (SEP-414); many sent them before.
    ...(typeof traceparent === 'string'
      ? { traceContext: { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) } }
      : {}),
    ...(progressToken === undefined
      ? {}
      : {
          progress: ({ value, ...rest }) =>
            tell({ method: 'notifications/progress', params: { progressToken, progress: value, ...rest } }),
        }),
    log: (level, data) => {
      // Version 2 knows what the client wants to hear, in either era; version 1 has to be asked.
      if (request?.log !== undefined) void request.log(level, data).catch(() => undefined);
      else if (!isIgnored(server, level, context.sessionId))
        tell({ method: 'notifications/message', params: { level, data } });
    },
  };
}

function isIgnored(server: ClientSource, level: LogLevel, sessionId: string | undefined): boolean {
  const protocol = server.server as {
    isMessageIgnored?(level: LogLevel, sessionId: string | undefined): boolean;
  };
  return protocol.isMessageIgnored?.(level, sessionId) === true;
}
