import type { Program, Provenance } from '@mcp-saga/core';
import type { SagaCaller } from './caller.ts';
import type { DialectCapabilities } from './dialect-capabilities.ts';
import type { Holder } from './holder.ts';

/** Options of a request to a host. */
export interface HostRequest {
  /**
   * Sender of the request. A host that tells callers apart, by `auth.principal`, `auth.authorize`,
   * or `auth.mayAnswer`, refuses a request without `principal` and `user`: a forgotten caller
   * must not start an anonymous saga. `'anonymous'` says that there is none. Default for other
   * hosts: anonymous, with unknown capabilities.
   */
  readonly caller?: SagaCaller | 'anonymous';
  /** Environment of the runtime, such as the bindings of a Worker, for `services` of the host. */
  readonly env?: unknown;
  /** Aborts the turn between two steps. Undoes nothing, and the token stays valid. */
  readonly signal?: AbortSignal;
}

/** Options of a start. */
export interface StartHostRequest extends HostRequest {
  /**
   * Name of the start, such as the ID of the event that causes it, in at most 256 characters. With
   * a store, a start with the same name, arguments, and caller returns the newest turn of the saga
   * that the first one began. Default: each start begins a saga.
   */
  readonly idempotencyKey?: string;
}

/** Options of a request to cancel a saga. */
export interface CancelHostRequest extends HostRequest {
  /** Reason, shown in the result. */
  readonly reason?: string;
}

/**
 * Options of a delivery. A delivery has no caller: it acts for the principal that is sealed in its
 * message.
 */
export type DeliveryRequest = Pick<HostRequest, 'env' | 'signal'>;

/** Facts about a start, set by dialects. */
export interface StartRequest {
  /**
   * Method of the start, sealed and checked when the saga continues. Default: `host`, for arguments
   * of server code. Only other methods allow compressed arguments.
   */
  readonly method?: string;
  /** Answers that the client has sent with the call: another start has others. */
  readonly early?: unknown;
  /** Kind of saga that the method serves. Sagas of another kind are unknown. Default: any. */
  readonly serves?: Program['serves'];
  /** Abilities of the dialect in this turn. */
  readonly dialect?: DialectCapabilities;
  /** Who takes the next turn. Default: the client. */
  readonly holder?: Holder;
}

/** Facts about a resume, set by dialects. */
export interface ResumeRequest {
  /** Methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
  /** Method of another call that continues the saga, sealed from now on. Default: the same call. */
  readonly method?: string;
  /** Repeated call, for dialects whose clients repeat the call. */
  readonly entry?: { readonly target: string; readonly args: unknown };
  /** Field of the answers, for errors. @default 'answers' */
  readonly answersField?: string;
  /** Source of the answers. @default 'client' */
  readonly provenance?: Provenance;
  /** Abilities of the dialect in this turn. */
  readonly dialect?: DialectCapabilities;
  /** Who takes the next turn. Default: the client. */
  readonly holder?: Holder;
  /**
   * `true`: a used token gets its stored response, even without its answers. Requires a guard.
   * @default false
   */
  readonly follows?: boolean;
}

/** Facts about a cancellation. */
export interface CancelRequest {
  /** Reason, shown in the result. */
  readonly reason?: string;
  /** Methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
}

/** Facts about a status request. */
export interface StatusRequest {
  /** Methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
}
