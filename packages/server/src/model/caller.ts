import type { Json, LogLevel, Awaitable } from '@mcp-saga/core';
import type { TraceContext } from './telemetry.ts';

/** Who a saga belongs to. A token opens for the principal that started the saga, and for no other. (T6) */
export interface Principal {
  /** Who vouches for the subject: the issuer of the access token. */
  readonly issuer?: string;
  /** The user. */
  readonly subject: string;
  /** The client application the user works with. */
  readonly client: string;
}

/** Sender of a request to a host, and what it brings. */
export interface SagaCaller {
  /** The principal, if the caller knows it. */
  readonly principal?: Principal;
  /** What the transport's authentication found; the host's `auth.principal` makes a principal of it. */
  readonly authInfo?: unknown;
  /** The capabilities the client declared, as it declared them; undefined when not known. */
  readonly capabilities?: Json;
  /** Handed to server steps as `context`; never journalled. */
  readonly context?: unknown;
  /** Gets the saga's progress: rising over all turns, and nothing told before. (W5) */
  readonly progress?: (progress: {
    readonly value: number;
    readonly total?: number;
    readonly message?: string;
  }) => void;
  /** Gets the saga's log messages, each told once. */
  readonly log?: (level: LogLevel, data: Json) => void;
  /** The trace context of the request, as the client wrote it: only telemetry reads it, and only by its own rules. */
  readonly traceContext?: TraceContext;
}

/** A caller as dialects know it. */
export interface Caller extends SagaCaller {
  /** Sends progress that a rate limit holds back. */
  readonly flushProgress?: () => void;
  /** Aborts the turn: it stops between steps, undoes nothing, and the token before it stays good. */
  readonly signal?: AbortSignal;
}

/**
 * Makes a principal of auth info. `'client-only'` binds a saga to the client application alone: all users of a hosted
 * client can then continue each other's sagas.
 */
export type PrincipalOption = 'client-only' | ((authInfo: unknown) => Awaitable<Principal | undefined>);
