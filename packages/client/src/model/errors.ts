import type { SuspendedSaga } from './saga-turn.ts';
import type { SagaMethod, SagaStep } from './wire.ts';

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

  /** Saga with the answers so far: `resumeSaga(client, error.saga)` continues it. Undefined if the saga had not begun. */
  get saga(): SuspendedSaga | undefined {
    return this.#saga;
  }
}

/** The server has no saga methods, or lacks this one. Call the tool with `tools/call`. */
export class SagasNotSupported extends SagaClientError {
  override readonly code = 'sagas_not_supported';
  readonly method: SagaMethod;

  constructor(method: SagaMethod, options: SagaClientErrorOptions = {}) {
    super(`The server does not offer ${method}`, options);
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
 * A request failed or was refused; `cause` is the SDK's error. The saga can be resumed. If `isRetryable`, resume it later,
 * with a growing delay. Retries end by themselves: once the token has expired, the error is {@link SagaGone}.
 *
 * @example
 * try {
 *   console.log(await resumeSaga(client, kept));
 * } catch (error) {
 *   if (!(error instanceof SagaRequestFailed && error.isRetryable)) throw error;
 *   console.log('The server cannot continue now. Try again later.', error.reason);
 * }
 */
export class SagaRequestFailed extends SagaClientError {
  override readonly code = 'saga_request_failed';
  readonly method: SagaMethod;
  /**
   * Code of JSON-RPC: -32602 if an answer was refused. Undefined if no response arrived; SDK v1 has -32000 (closed) and
   * -32001 (timeout) for that.
   */
  readonly rpcCode: number | undefined;
  /** The server's reason, such as `guard_down`, `busy`, or `version_gone`. */
  readonly reason: string | undefined;

  constructor(
    method: SagaMethod,
    problem: string,
    rpcCode: number | undefined,
    options: SagaClientErrorOptions & { readonly reason?: string | undefined } = {},
  ) {
    super(`${method} failed: ${problem}`, options);
    this.method = method;
    this.rpcCode = rpcCode;
    this.reason = options.reason;
  }

  /**
   * `true` if the server cannot answer now, and the same request may succeed later: its guard is down, the request is
   * being run, or a deploy has reached other processes than the one that answered.
   */
  get isRetryable(): boolean {
    return this.rpcCode === INTERNAL_ERROR && this.reason !== undefined;
  }
}

/**
 * The server refused the saga's token: it has expired, was already used, or belongs to another user or server. Nothing can be
 * resumed, so `saga` is undefined. Delete the stored saga, and call the tool again.
 */
export class SagaGone extends SagaClientError {
  override readonly code = 'saga_gone';

  constructor(options: { readonly cause?: unknown } = {}) {
    super('The server does not continue this saga: its token is invalid or expired', options);
  }
}

/** `options.signal` aborted; `cause` is its reason. */
export class SagaCallAborted extends SagaClientError {
  override readonly code = 'saga_call_aborted';

  constructor(options: SagaClientErrorOptions = {}) {
    super(
      options.saga ? 'The saga was left suspended: aborted' : 'The saga was aborted before it began',
      options,
    );
  }
}

/**
 * The saga was still suspended after `maxRounds` resumptions. Resuming it starts a new count. If steps are asked again, the
 * message contains the server's reasons: a handler whose answer is refused gives the same answer in every round.
 */
export class SagaRoundsExceeded extends SagaClientError {
  override readonly code = 'saga_rounds_exceeded';
  readonly maxRounds: number;

  constructor(maxRounds: number, options: SagaClientErrorOptions = {}) {
    const what = refusalsOf(options.saga) || 'raise maxRounds or resume it';
    super(`The saga is still suspended after ${maxRounds} rounds; ${what}`, options);
    this.maxRounds = maxRounds;
  }
}

/** Lists the steps that are asked again, with the reasons; without the token, in case the server quotes it. */
function refusalsOf(saga: SuspendedSaga | undefined): string | undefined {
  return saga?.steps
    .flatMap(({ stepId, reason }) => {
      const said = reason?.replaceAll(saga.toJSON().sagaToken, '<token>').slice(0, 500);
      return said === undefined ? [] : `the answer to '${stepId}' was refused: ${said}`;
    })
    .join('; ');
}

/** `options.onTurn` threw; `cause` is its error. Nothing was asked or sent for this turn. */
export class SagaOnTurnFailed extends SagaClientError {
  override readonly code = 'saga_on_turn_failed';

  constructor(options: SagaClientErrorOptions = {}) {
    super('options.onTurn failed', options);
  }
}

/**
 * The server asks for a step that has no handler. Nothing was asked or sent for this turn. Add a handler, and resume `saga`. To
 * continue without the step, add a handler that throws, or declines.
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
      `Step '${stepId}' has no handler: set options.handlers.${type}, or a request handler for ${method} on the client`,
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
    super(`This is not a kept saga: ${field === '' ? 'it' : field} ${problem}`);
    this.field = field;
  }
}
