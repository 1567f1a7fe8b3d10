import type { Json, ClientNeed, Program } from '@mcp-saga/core';
import type { Caller } from './caller.ts';
import type { CompletedTurn, FailedTurn } from './turn.ts';

/** Facts about the client of a request. */
export interface ClientFacts {
  /**
   * `modern`: MCP 2026-07-28, with requests that are independent of each other. `legacy`: MCP
   * 2025-11-25 and older.
   */
  readonly era: 'modern' | 'legacy';
  /**
   * `true` if the server can send requests to the client during a call: in a session, or over
   * stdio.
   */
  readonly isSession: boolean;
  /** `true` if the server speaks MCP 2026-07-28: version 1 of the SDK does not. */
  readonly canBeModern: boolean;
  /** Capabilities that the client declared; undefined if unknown. */
  readonly capabilities: Json | undefined;
  /** Capabilities for questions among them, apart from those that the client lacks after all. */
  readonly asks: readonly ClientNeed[];
  /**
   * Notes that the client declared a capability, and answered "method not found" to a question:
   * from now on, `asks` of this session does not contain it.
   */
  readonly noteLacking: (need: ClientNeed) => void;
}

/** Methods of MCP that a saga can serve. */
export type CallMethod = 'tools/call' | 'prompts/get' | 'resources/read';

/**
 * Request of MCP's own methods to a saga. A dialect decodes the request, and encodes the turn as
 * its result.
 */
export interface ClientCall {
  readonly method: CallMethod;
  readonly saga: Program;
  /** Arguments as received. */
  readonly args: unknown;
  /** Parameters of the request as received. @default none */
  readonly params?: { readonly [key: string]: unknown };
  /** `_meta` of the request. */
  readonly meta: { readonly [key: string]: unknown };
  /** JSON-RPC ID of the request. */
  readonly id: string | number;
  readonly client: ClientFacts;
  readonly caller: Caller;
  readonly connection: CallConnection;
  /** `true` if the client receives tokens to resume this request. @default false */
  readonly isResumable?: boolean;
  /** Fields of a multi round-trip request. */
  readonly requestState: unknown;
  readonly inputResponses: unknown;
  /**
   * Sends the client a request during the call. Rejects with the error of the client, or when
   * `signal` aborts.
   */
  send(request: WireRequest, options: SendOptions): Promise<unknown>;
  /** Sends the client a notification for this request. */
  notify(notification: WireRequest): Promise<void>;
  /** Keeps the runtime alive for work after the response. */
  waitUntil(work: Promise<unknown>): void;
  /** Encodes an ended saga as the result of the method. */
  toResult(turn: CompletedTurn | FailedTurn): object;
}

/** Connection of a client during a call. */
export interface CallConnection {
  /**
   * The same object for all calls whose messages share one stream, as over stdio. Undefined over
   * HTTP, where each response is a stream of its own.
   */
  readonly line: object | undefined;
  /**
   * `true` if the response to the call can no longer reach the client. `false` also if unknown.
   */
  isLost(): boolean;
  /** Calls `onChange` when `isLost` may have changed. Returns a function that ends this. */
  watch(onChange: () => void): () => void;
}

/** Options of a request to a client. */
export interface SendOptions {
  /** Maximum time to wait for the response, in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Request or notification on the wire. */
export interface WireRequest {
  readonly method: string;
  readonly params: { readonly [key: string]: unknown };
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: { readonly [key: string]: unknown };
  readonly outputSchema?: { readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}
