import type { SuspendedSaga } from './client-turn-types.ts';
import type { SagaMethod, SagaStep } from './wire-types.ts';

const INTERNAL_ERROR = -32603;

/** Codes of the errors of this package. The name of an error is its code in PascalCase. */
export type SagaClientErrorCode =
  | 'sagas_not_supported'
  | 'saga_protocol_error'
  | 'saga_request_failed'
  | 'saga_gone'
  | 'saga_call_aborted'
  | 'saga_rounds_exceeded'
  | 'saga_on_turn_failed'
  | 'saga_step_unhandled'
  | 'kept_saga_invalid';

/** Options of the constructors of errors. */
export interface SagaClientErrorOptions {
  readonly cause?: unknown;
  readonly saga?: SuspendedSaga | undefined;
}

/** Base class of every error of this package. No message contains a token or an answer. */
export abstract class SagaClientError extends Error {
  abstract readonly code: SagaClientErrorCode;
  // Private, so that logging the error does not print the state of the saga.
  readonly #saga: SuspendedSaga | undefined;

  constructor(message: string, options: SagaClientErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.#saga = options.saga;
  }

  // By the code, since bundlers shorten the names of classes.
  override get name(): string {
    return this.code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  }

  /**
   * Saga with the answers so far: `resumeSaga(client, error.saga)` continues it. Undefined if the
   * saga had not begun.
   */
  get saga(): SuspendedSaga | undefined {
    return this.#saga;
  }
}

/** The server has no saga methods, or lacks this one. Call the tool with `tools/call`. */
export class SagasNotSupported extends SagaClientError {
  override readonly code = 'sagas_not_supported';
  readonly method: SagaMethod;

  constructor(method: SagaMethod, options: SagaClientErrorOptions = {}) {
    super(`The server does not offer ${method}. Call the tool with tools/call.`, options);
    this.method = method;
  }
}

/** The server's answer is neither a suspended saga nor a `CallToolResult`. */
export class SagaProtocolError extends SagaClientError {
  override readonly code = 'saga_protocol_error';
  /** Path of the invalid field, such as `steps[0].stepId`. */
  readonly field: string;

  constructor(field: string, problem: string, options: SagaClientErrorOptions = {}) {
    super(`The server's answer is malformed: ${field} ${problem}`, options);
    this.field = field;
  }
}

/**
 * A request failed or was rejected; `cause` is the SDK's error. The saga can be resumed. If
 * `isRetryable`, resume it later, with a growing delay, until the token expires and the error is
 * {@link SagaGone}.
 * @example
 * ```ts
 * declare const kept: KeptSaga;
 *
 * try {
 *   console.log(await resumeSaga(client, kept));
 * } catch (error) {
 *   if (!(error instanceof SagaRequestFailed && error.isRetryable)) throw error;
 *   console.log('The server cannot continue now. Try again later.', error.reason);
 * }
 * ```
 */
export class SagaRequestFailed extends SagaClientError {
  override readonly code = 'saga_request_failed';
  readonly method: SagaMethod;
  /**
   * JSON-RPC code: -32602 if an answer was refused. Undefined if no JSON-RPC response arrived; SDK
   * v1 has -32000 (closed) and -32001 (timeout) for that.
   */
  readonly rpcCode: number | undefined;
  /** The server's reason, such as `guard_down`, `busy`, or `version_gone`. */
  readonly reason: string | undefined;
  /** Status of an HTTP response without JSON-RPC, such as 502 of a proxy. */
  readonly httpStatus: number | undefined;

  constructor(
    method: SagaMethod,
    problem: string,
    rpcCode: number | undefined,
    options: SagaClientErrorOptions & {
      readonly reason?: string | undefined;
      readonly httpStatus?: number | undefined;
    } = {},
  ) {
    super(`${method} failed: ${problem}`, options);
    this.method = method;
    this.rpcCode = rpcCode;
    this.reason = options.reason;
    this.httpStatus = options.httpStatus;
  }

  /**
   * `true` if the same request may succeed later: the guard is down, the request is running, a
   * deploy has not reached the answering process, or a proxy answers with 429, 502, 503, or 504.
   * After a proxy's answer, the outcome is unknown.
   */
  get isRetryable(): boolean {
    if (this.rpcCode === INTERNAL_ERROR) return this.reason !== undefined;
    return [429, 502, 503, 504].includes(this.httpStatus ?? 0);
  }
}

/**
 * The server refused the saga's token: it has expired, was already used, or belongs to another user
 * or server. Nothing can be resumed, so `saga` is undefined. Delete the stored saga, and call the
 * tool again.
 */
export class SagaGone extends SagaClientError {
  override readonly code = 'saga_gone';

  constructor(options: { readonly cause?: unknown } = {}) {
    super('The token of this saga is invalid or expired. Call the tool again.', options);
  }
}

/** `options.signal` aborted; `cause` is its reason. */
export class SagaCallAborted extends SagaClientError {
  override readonly code = 'saga_call_aborted';

  constructor(options: SagaClientErrorOptions = {}) {
    super(
      options.saga ? 'Aborted. The saga is suspended.' : 'Aborted before the saga started.',
      options,
    );
  }
}

/**
 * The saga was still suspended after `maxRounds` resumptions. Resuming it starts a new count. If
 * steps are asked again, the message contains the server's reasons, since a handler may repeat a
 * rejected answer in every round.
 */
export class SagaRoundsExceeded extends SagaClientError {
  override readonly code = 'saga_rounds_exceeded';
  readonly maxRounds: number;

  constructor(maxRounds: number, options: SagaClientErrorOptions = {}) {
    const what = refusalsOf(options.saga) || 'raise maxRounds, or resume the saga';
    super(`The saga is still suspended after ${maxRounds} rounds; ${what}`, options);
    this.maxRounds = maxRounds;
  }
}

/**
 * Lists the steps that are asked again, with the reasons; without the token, in case the server
 * quotes it.
 */
function refusalsOf(saga: SuspendedSaga | undefined): string | undefined {
  return saga?.steps
    .flatMap(({ stepId, reason }) => {
      const said = reason?.replaceAll(saga.toJSON().sagaToken, '<token>').slice(0, 500);
      return said === undefined ? [] : `the answer to '${stepId}' was rejected: ${said}`;
    })
    .join('; ');
}

/** `options.onTurn` threw; `cause` is its error. Nothing was asked or sent for this turn. */
export class SagaOnTurnFailed extends SagaClientError {
  override readonly code = 'saga_on_turn_failed';

  constructor(options: SagaClientErrorOptions = {}) {
    super('options.onTurn failed. See the cause.', options);
  }
}

/**
 * The server asks for a step that has no handler. Nothing was asked or sent for this turn. Add a
 * handler, and resume `saga`. To continue without the step, add a handler that throws, or declines.
 */
export class SagaStepUnhandled extends SagaClientError {
  override readonly code = 'saga_step_unhandled';
  readonly stepId: string;
  readonly type: SagaStep['type'];

  constructor(
    { stepId, type }: Pick<SagaStep, 'stepId' | 'type'>,
    method: string,
    options: SagaClientErrorOptions = {},
  ) {
    super(
      `Step '${stepId}' has no handler. Set options.handlers.${type}, or a request handler for ${method} on the client.`,
      options,
    );
    this.stepId = stepId;
    this.type = type;
  }
}

/** The value to resume is not a stored saga of this package. */
export class KeptSagaInvalid extends SagaClientError {
  override readonly code = 'kept_saga_invalid';
  /** Path of the invalid field; empty for the whole value. */
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`The stored saga is invalid: ${field === '' ? 'the value' : field} ${problem}.`);
    this.field = field;
  }
}
