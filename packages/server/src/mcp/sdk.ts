import { isRecord, present } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type { Json, LogLevel, User } from '@mcp-saga/core';
import type { ClientFacts, SendOptions, WireRequest } from '../model/call-types.ts';
import type { Caller } from '../model/caller.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { asksOf } from '../wire/step-requests.ts';

/**
 * `McpServer` of the MCP SDK, version 1 or 2, by its structure: neither version must be installed.
 */
export interface McpServerLike {
  readonly server: ProtocolServerLike;
  registerTool(name: string, config: never, callback: never): unknown;
}

/** Protocol server inside an `McpServer`. */
export interface ProtocolServerLike {
  setRequestHandler(...args: never): void;
  registerCapabilities(capabilities: never): void;
  getClientCapabilities(): unknown;
  /** Undefined before the connection, and after its end. */
  readonly transport?: unknown;
}

/** Part of a server that knows the client of a session. */
export interface ClientSource {
  readonly server: Pick<ProtocolServerLike, 'getClientCapabilities' | 'transport'>;
}

/** Context of a request handler, in version 2 (`mcpReq`) or version 1. */
export interface RequestContextLike {
  readonly mcpReq?: {
    readonly id?: string | number;
    readonly requestState?: () => unknown;
    readonly inputResponses?: unknown;
    /** Keys of invalid responses. */
    readonly droppedInputResponseKeys?: readonly string[];
    readonly send?: (request: WireRequest, ...more: readonly unknown[]) => Promise<unknown>;
    readonly _meta?: Meta;
    readonly envelope?: { readonly [key: string]: unknown };
    readonly signal?: AbortSignal;
    readonly notify?: (notification: WireRequest) => Promise<void>;
    readonly log?: (level: LogLevel, data: Json) => Promise<void>;
  };
  readonly http?: { readonly authInfo?: User; readonly req?: unknown };
  readonly requestId?: string | number;
  /** Headers of the HTTP request, in version 1. */
  readonly requestInfo?: unknown;
  readonly sendRequest?: (
    request: WireRequest,
    schema: unknown,
    options?: object,
  ) => Promise<unknown>;
  readonly _meta?: Meta;
  readonly signal?: AbortSignal;
  readonly sessionId?: string;
  readonly authInfo?: User;
  readonly sendNotification?: (notification: WireRequest) => Promise<void>;
}

interface Meta {
  readonly progressToken?: string | number;
  readonly [key: string]: unknown;
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** `true` for a server of version 2 of the SDK. */
export function isVersion2(server: McpServerLike): boolean {
  return (
    typeof (server.server as { readonly projectCallToolResult?: unknown }).projectCallToolResult ===
    'function'
  );
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';

/** Returns the era of a request. Some clients of older versions send other parts of the envelope. */
export function eraOf({ mcpReq }: RequestContextLike): ClientFacts['era'] {
  return mcpReq?.envelope?.[versionKey] === undefined ? 'legacy' : 'modern';
}

/** Registers a handler for a method outside of MCP, in the form of either version. */
export function setMethodHandler(
  server: McpServerLike,
  method: string,
  handle: (params: unknown, context: RequestContextLike) => Promise<object>,
): void {
  const protocol = server.server as { setRequestHandler(...args: readonly unknown[]): void };
  if (isVersion2(server)) {
    // Accepts all params: the dialect checks them, and names the field.
    protocol.setRequestHandler(method, { params: anySchema }, handle);
    return;
  }
  const request = {
    shape: { method: { value: method } },
    safeParse: anySchema.safeParse,
    parse: anySchema.parse,
  };
  protocol.setRequestHandler(
    request,
    async (sent: { readonly params?: unknown }, context: RequestContextLike) =>
      handle(sent.params, context),
  );
}

/** Returns the capabilities that the client of a request declared; undefined if unknown. */
export function capabilitiesOf(
  server: ClientSource,
  context: RequestContextLike,
): Json | undefined {
  const declared = context.mcpReq?.envelope?.[capabilitiesKey];
  if (declared !== undefined) return declared as Json;
  const ofSession = server.server.getClientCapabilities() as Json | undefined;
  return resumingClients.has(server.server)
    ? Object.assign({ resumableRequests: {} }, ofSession)
    : ofSession;
}

/** Servers of a session whose client declared resumable requests. */
const resumingClients = new WeakSet<object>();

/**
 * Reads the capability of resumable requests (SEP-975) in the message that opens a session. The SDK
 * drops each capability that its version of MCP does not define.
 */
export function readResumableRequests(server: McpServerLike): void {
  intercept(server, 'initialize', async (request, context, next) => {
    const { resumableRequests } = Object(request.params?.['capabilities']) as {
      readonly resumableRequests?: unknown;
    };
    if (isRecord(resumableRequests)) resumingClients.add(server.server);
    else resumingClients.delete(server.server);
    return await next(request, context);
  });
}

/** Returns a function that sends requests to the client during a request. */
export function senderOf(
  context: RequestContextLike,
): (request: WireRequest, options: SendOptions) => Promise<unknown> {
  const { mcpReq, sendRequest } = context;
  return async (request, options) => {
    // The step of the saga checks the response.
    if (mcpReq?.send !== undefined) return await mcpReq.send(request, anySchema, options);
    if (sendRequest !== undefined) return await sendRequest(request, anySchema, options);
    throw new TypeError('The server cannot send requests to the client.');
  };
}

/** Returns a function that sends notifications to the client during a request. */
export function notifierOf(
  context: RequestContextLike,
): (notification: WireRequest) => Promise<void> {
  const notify = context.mcpReq?.notify ?? context.sendNotification;
  return async (notification) => await notify?.(notification);
}

/** Schema that accepts everything, in the form of either version of the SDK. */
const anySchema = {
  '~standard': { version: 1, vendor: 'mcp-saga', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
  parse: (data: unknown) => data,
};

/**
 * Returns the caller of a request. Without auth info, the caller is anonymous only if the host
 * accepts that.
 */
export function toCaller(
  { gate }: Pick<SagaHostCore, 'gate'>,
  server: ClientSource,
  context: RequestContextLike,
): Caller {
  const request = context.mcpReq;
  const signal = request?.signal ?? context.signal;
  const authInfo = context.http?.authInfo ?? context.authInfo;
  const capabilities = capabilitiesOf(server, context);
  const notify = notifierOf(context);
  const { progressToken, traceparent, tracestate } = request?.['_meta'] ?? context['_meta'] ?? {};
  // The response does not wait for notifications, and does not fail with them.
  const report = (notification: WireRequest): void =>
    void notify(notification).catch(() => undefined);
  return {
    ...(authInfo === undefined && gate.anonymous.calls === 'accept'
      ? { principal: 'anonymous' }
      : {}),
    ...present({ signal, user: authInfo, capabilities }),
    // Reserved names since 2026-07-28, without a prefix (SEP-414). Many clients sent them before.
    ...(typeof traceparent === 'string'
      ? { traceContext: { traceparent, ...(typeof tracestate === 'string' ? { tracestate } : {}) } }
      : {}),
    ...(progressToken === undefined
      ? {}
      : {
          progress: ({ value, ...rest }) =>
            report({
              method: 'notifications/progress',
              params: { progressToken, progress: value, ...rest },
            }),
        }),
    // Only MCP 2025-11-25 has this notification.
    ...(eraOf(context) === 'legacy' && asksOf(capabilities).includes('elicitation.url')
      ? {
          completeUrl: (elicitationId) =>
            report({ method: 'notifications/elicitation/complete', params: { elicitationId } }),
        }
      : {}),
    log: (level, data) => {
      // Version 2 applies the log level of the client. Version 1 must be asked.
      if (request?.log !== undefined) void request.log(level, data).catch(() => undefined);
      else if (!isIgnored(server, level, context.sessionId))
        report({ method: 'notifications/message', params: { level, data } });
    },
  };
}

function isIgnored(server: ClientSource, level: LogLevel, sessionId: string | undefined): boolean {
  const protocol = server.server as {
    isMessageIgnored?(level: LogLevel, sessionId: string | undefined): boolean;
  };
  return protocol.isMessageIgnored?.(level, sessionId) === true;
}

/** JSON-RPC request, as the SDKs pass it to a handler. */
export interface RequestLike {
  readonly method: string;
  readonly params?: { readonly [key: string]: unknown };
}

/** Handler of a request. */
export type RequestHandler = (request: RequestLike, context: RequestContextLike) => Promise<object>;

/**
 * Runs before the handler that an `McpServer` of either SDK registered for a method of MCP.
 *
 * Callbacks of `registerTool` run too late: their errors become tool results, their arguments are
 * already parsed, the server's `requestState.verify` rejects tokens of sagas, and `tools/list`
 * cannot differ between clients. Throws TypeError for an unknown version of the SDK.
 */
export function intercept(
  server: McpServerLike,
  method: string,
  handle: (
    request: RequestLike,
    context: RequestContextLike,
    next: RequestHandler,
  ) => Promise<object>,
): void {
  const { _requestHandlers: handlers } = server.server as {
    readonly _requestHandlers?: Map<string, RequestHandler>;
  };
  const next = handlers?.get(method);
  if (handlers === undefined || next === undefined) {
    throw optionError(
      `Unsupported version of the MCP SDK: it has no handler for ${method}. Use a version that the peerDependencies of @mcp-saga/server allow.`,
    );
  }
  handlers.set(method, (request, context) => handle(request, context, next));
}
