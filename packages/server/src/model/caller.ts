import type { Awaitable, Json, LogLevel, User } from '@mcp-saga/core';
import type { TraceContext } from './telemetry.ts';

/** Owner of a saga. Only requests of the same principal can use its tokens. */
export interface Principal {
  /** Issuer of the access token that vouches for the subject. */
  readonly issuer?: string;
  /** ID of the user. */
  readonly subject: string;
  /** ID of the client application. */
  readonly client: string;
}

/** Sender of a request to a host. */
export interface SagaCaller {
  /**
   * Principal, if the server knows it; `'anonymous'` for a caller without one, whose sagas anyone
   * with a token can continue. Default: by `user`.
   */
  readonly principal?: Principal | 'anonymous';
  /**
   * User of the request, as the transport has authenticated it. Server steps get it as `user`. Its
   * `issuer`, `subject`, and `client` are the principal, unless `auth.principal` makes another.
   */
  readonly user?: User;
  /** Capabilities that the client declared. Default: unknown. */
  readonly capabilities?: Json;
  /** Receives the progress of the saga. `value` rises over all turns. */
  readonly progress?: (progress: {
    readonly value: number;
    readonly total?: number;
    readonly message?: string;
  }) => void;
  /** Receives each log message of the saga once. */
  readonly log?: (level: LogLevel, data: Json) => void;
  /** Trace context from the client, unchecked. Only telemetry reads it. */
  readonly traceContext?: TraceContext;
}

/** Key by which a client names a call, so that a repetition of the call is known. */
export interface ClientKey {
  /** As received: only a start checks its form. */
  readonly key: string;
  /**
   * Who has made the key: the client of the protocol on purpose, the host around it as an ID of its
   * own, or the code of the server.
   */
  readonly from: 'client' | 'host' | 'server';
  /** `true` over stdio: the client has started this process, and is its only one. */
  readonly isLocal?: boolean;
}

/** Caller of a host, as dialects pass it. */
export interface Caller extends SagaCaller {
  /** Tells the client that the user has finished at the page of a URL elicitation. */
  readonly completeUrl?: (elicitationId: string) => void;
  /** Sends progress that a rate limit holds back. */
  readonly flushProgress?: () => void;
  /** Reads the key by which the client names its call. Only a first call needs it. */
  readonly clientKey?: () => ClientKey | undefined;
  /** Aborts the turn between two steps. Undoes nothing, and the token stays valid. */
  readonly signal?: AbortSignal;
}

/**
 * Makes a principal of a user without `subject`, such as the auth info of an OAuth library.
 * `'client-only'` binds a saga only to the client application: all
 * users of a hosted client can continue each other's sagas.
 */
export type PrincipalOption = 'client-only' | ((user: User) => Awaitable<Principal | undefined>);
