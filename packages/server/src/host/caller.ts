import type { Awaitable, Json, LogLevel } from '@mcp-saga/core';
import { canonicalize } from '@mcp-saga/seal';
import { SagaHostError } from './errors.ts';
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

/** One request to a host: who sends it, and what it brings along. */
export interface Caller {
  /** The principal, if the caller knows it. */
  readonly principal?: Principal;
  /** What the transport's authentication found; the host's option `principal` makes a principal of it. */
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
  /** Sends progress that a rate limit holds back. */
  readonly flushProgress?: () => void;
  /** Gets the saga's log messages, each told once. */
  readonly log?: (level: LogLevel, data: Json) => void;
  /** The trace context of the request, as the client wrote it: only telemetry reads it, and only by its own rules. */
  readonly traceContext?: TraceContext;
  /** Aborts the turn: it stops between steps, undoes nothing, and leaves the token before it good. (U4) */
  readonly signal?: AbortSignal;
}

/**
 * How a host makes a principal of what the transport's authentication found. `'client-only'` binds a saga to the
 * client application alone: all users of a hosted client can then continue each other's sagas.
 */
export type PrincipalOption = 'client-only' | ((authInfo: unknown) => Awaitable<Principal | undefined>);

/**
 * The principal as it is sealed; null for a caller without authentication, which is a value of its own: a saga that
 * was started without it does not go on with it, nor the other way round. (T6)
 *
 * @throws SagaHostError `principal_missing` when there is auth info that no principal can be made of
 */
export async function principalOf(
  caller: Caller,
  option: PrincipalOption | undefined,
): Promise<string | null> {
  const { authInfo } = caller;
  if (caller.principal !== undefined) return sealable(caller.principal, 'The caller names no subject.');
  if (authInfo === undefined || authInfo === null) return null;
  if (option === undefined) {
    throw missing(
      'Requests are authenticated, and the host has no `principal` option. Give it ' +
        'principal: (authInfo) => ({ issuer, subject, client }), because the SDKs know only the client application, ' +
        "which all its users share; or principal: 'client-only' if that is meant.",
    );
  }
  if (option === 'client-only') {
    const { clientId } = authInfo as { readonly clientId?: unknown };
    if (typeof clientId !== 'string' || clientId === '') throw missing('The auth info has no clientId.');
    return canonicalize({ client: clientId });
  }
  return sealable(
    await option(authInfo),
    "The host's `principal` option gave no subject for an authenticated request.",
  );
}

function sealable(principal: Principal | undefined, problem: string): string {
  const { issuer, subject, client } = principal ?? {};
  if (typeof subject !== 'string' || subject === '') throw missing(problem);
  return canonicalize(issuer === undefined ? { subject, client } : { issuer, subject, client });
}

function missing(message: string): SagaHostError {
  return new SagaHostError('principal_missing', message, { public: false });
}
