import type { Json, ClientNeed, Program } from '@mcp-saga/core';
import type { Caller } from './caller.ts';
import type { CompletedTurn, FailedTurn } from './turn.ts';

/** The client of one request, as far as its request and its session tell. */
export interface ClientFacts {
  /** `modern`: the spec 2026-07-28, where each request stands for itself; `legacy`: 2025-11-25 and older. */
  readonly era: 'modern' | 'legacy';
  /** Whether the server can send requests of its own while it answers: a session, or stdio. */
  readonly isSession: boolean;
  /** What it declared; undefined where that is not known. */
  readonly capabilities: Json | undefined;
  /** What it declared that it can be asked for. */
  readonly asks: readonly ClientNeed[];
}

/** The requests a saga can be served by. */
export type CallMethod = 'tools/call' | 'prompts/get' | 'resources/read';

/** One request of MCP's own that a saga answers: what a dialect decodes, and encodes the turn for. */
export interface ClientCall {
  readonly method: CallMethod;
  readonly saga: Program;
  /** The arguments as received. */
  readonly args: unknown;
  /** The parameters of the request, as received. Default: none. */
  readonly params?: { readonly [key: string]: unknown };
  /** The request's `_meta`. */
  readonly meta: { readonly [key: string]: unknown };
  /** The request's JSON-RPC id. */
  readonly id: string | number;
  readonly client: ClientFacts;
  readonly caller: Caller;
  /** `true` if the client gets tokens for resuming this request. Default false. */
  readonly isResumable?: boolean;
  /** What a multi round-trip request brings along. */
  readonly requestState: unknown;
  readonly inputResponses: unknown;
  /** Sends the client a request within this one. Rejects with the client's error, and when `signal` aborts. */
  send(request: WireRequest, options: SendOptions): Promise<unknown>;
  /** Tells the client something that belongs to this request. */
  notify(notification: WireRequest): Promise<void>;
  /** Keeps the runtime alive for work that goes on after the answer. */
  waitUntil(work: Promise<unknown>): void;
  /** The result of the method, of a saga that has ended. */
  toResult(turn: CompletedTurn | FailedTurn): object;
}

/** How a request is sent to a client. */
export interface SendOptions {
  /** How long an answer is waited for, in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** A request or a notification on the wire. */
export interface WireRequest {
  readonly method: string;
  readonly params: { readonly [key: string]: unknown };
}

export interface ListedTool {
  readonly name: string;
  readonly inputSchema: { readonly [key: string]: unknown };
  readonly outputSchema?: object;
  readonly [key: string]: unknown;
}
