import type { SuspendedSaga } from './saga-turn.ts';
import type { SagaMethod } from './wire.ts';

const INTERNAL_ERROR = -32603;

/** What the errors of this package are told apart by. */
export type SagaClientErrorCode =
  | 'SAGAS_NOT_SUPPORTED'
  | 'SAGA_PROTOCOL_ERROR'
  | 'SAGA_REQUEST_FAILED'
  | 'SAGA_GONE'
  | 'SAGA_ABORTED'
  | 'SAGA_ROUNDS_EXCEEDED'
  | 'SAGA_ON_TURN_FAILED'
  | 'SAGA_STEP_UNHANDLED'
  | 'KEPT_SAGA_INVALID';

/** For the constructors of errors. */
export interface SagaClientErrorOptions {
  readonly cause?: unknown;
  readonly saga?: SuspendedSaga | undefined;
}

/** Base of every error of this package. No message holds a token or an answer. */
export abstract class SagaClientError extends Error {
  abstract readonly code: SagaClientErrorCode;
  // Private, so that logging the error does not print what the saga holds.
  readonly #saga: SuspendedSaga | undefined;

  constructor(message: string, options: SagaClientErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.#saga = options.saga;
  }

  /**
   * The saga as it was when this happened, with the answers already collected: `resumeSaga(client, error.saga)` goes
   * on from there. Undefined when the saga had not begun.
   */
  get saga(): SuspendedSaga | undefined {
    return this.#saga;
  }
}

/** The server has no saga methods, or not this one; call the tool with `tools/call`. */
export class SagasNotSupported extends SagaClientError {
  override readonly code = 'SAGAS_NOT_SUPPORTED';
  readonly method: SagaMethod;

  constructor(method: SagaMethod, options: SagaClientErrorOptions = {}) {
    super(`The server does not offer ${method}`, options);
    this.method = method;
  }
  override get name(): string {
    return 'SagasNotSupported';
  }
}

/** The server answered something that is neither a suspended saga nor a `CallToolResult`. */
export class SagaProtocolError extends SagaClientError {
  override readonly code = 'SAGA_PROTOCOL_ERROR';
  /** The path of the field at fault, such as `steps[0].stepId`. */
  readonly field: string;

  constructor(field: string, problem: string, options: SagaClientErrorOptions = {}) {
    super(`The server's answer is malformed: ${field} ${problem}`, options);
    this.field = field;
  }
  override get name(): string {
    return 'SagaProtocolError';
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
  override readonly code = 'SAGA_REQUEST_FAILED';
  readonly method: SagaMethod;
  /**
   * The code of JSON-RPC: -32602 when an answer was refused. Undefined when no answer came; SDK v1 has
   * -32000 (closed) and -32001 (timeout) for that.
   */
  readonly rpcCode: number | undefined;
  /** The reason that the server gives, such as `guard_down`, `busy`, or `version_gone`. */
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
  override get name(): string {
    return 'SagaRequestFailed';
  }
}

/**
 * The server refused the saga's token: it has expired, or was used otherwise, or belongs to another user or server.
 * There is nothing left to resume, so `saga` is undefined: forget what was kept of it, and call the tool again.
 */
export class SagaGone extends SagaClientError {
  override readonly code = 'SAGA_GONE';

  constructor(options: { readonly cause?: unknown } = {}) {
    super('The server does not go on with this saga: its token is invalid or expired', options);
  }
  override get name(): string {
    return 'SagaGone';
  }
}

/** `options.signal` aborted; `cause` is its reason. */
export class SagaAborted extends SagaClientError {
  override readonly code = 'SAGA_ABORTED';

  constructor(options: SagaClientErrorOptions = {}) {
    super(
      options.saga ? 'The saga was left suspended: aborted' : 'The saga was aborted before it began',
      options,
    );
  }
  override get name(): string {
    return 'SagaAborted';
  }
}

/**
 * The saga was still suspended after `maxRounds` resumptions. Resuming it begins to count anew. Where steps are asked
 * again the message says why, in the server's words: a handler whose answer is refused gives it in every round.
 */
export class SagaRoundsExceeded extends SagaClientError {
  override readonly code = 'SAGA_ROUNDS_EXCEEDED';
  readonly maxRounds: number;

  constructor(maxRounds: number, options: SagaClientErrorOptions = {}) {
    const what = refusalsOf(options.saga) || 'raise maxRounds or resume it';
    super(`The saga is still suspended after ${maxRounds} rounds; ${what}`, options);
    this.maxRounds = maxRounds;
  }
  override get name(): string {
    return 'SagaRoundsExceeded';
  }
}

/** Which steps are asked again, and why; without the token, should the server quote it. */
function refusalsOf(saga: SuspendedSaga | undefined): string | undefined {
  return saga?.steps
    .flatMap(({ stepId, reason }) => {
      const said = reason?.replaceAll(saga.toJSON().sagaToken, '<token>').slice(0, 500);
      return said === undefined ? [] : `the answer to '${stepId}' was refused: ${said}`;
    })
    .join('; ');
}

/** `options.onTurn` threw, `cause` is what; nothing was asked or sent for this turn. */
export class SagaOnTurnFailed extends SagaClientError {
  override readonly code = 'SAGA_ON_TURN_FAILED';

  constructor(options: SagaClientErrorOptions = {}) {
    super('options.onTurn failed', options);
  }
  override get name(): string {
    return 'SagaOnTurnFailed';
  }
}

/**
 * The server asks for a step that nobody here fulfils. Nothing was asked or sent for this turn: give a handler, and
 * resume `saga`. To have the saga do without the step, give one that throws, or declines.
 */
export class SagaStepUnhandled extends SagaClientError {
  override readonly code = 'SAGA_STEP_UNHANDLED';
  readonly stepId: string;
  readonly type: 'elicitation' | 'sampling' | 'roots';

  constructor(
    step: { readonly stepId: string; readonly type: 'elicitation' | 'sampling' | 'roots' },
    method: string,
    options: SagaClientErrorOptions = {},
  ) {
    super(
      `Nobody fulfils step '${step.stepId}' (${step.type}): give options.handlers.${step.type}, or set a request ` +
        `handler for ${method} on the client; then resumeSaga(client, error.saga) goes on`,
      options,
    );
    this.stepId = step.stepId;
    this.type = step.type;
  }
  override get name(): string {
    return 'SagaStepUnhandled';
  }
}

/** What should be resumed is not a saga as this package keeps them. */
export class KeptSagaInvalid extends SagaClientError {
  override readonly code = 'KEPT_SAGA_INVALID';
  /** The path of the field at fault; empty for the whole. */
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`This is not a kept saga: ${field === '' ? 'it' : field} ${problem}`);
    this.field = field;
  }
  override get name(): string {
    return 'KeptSagaInvalid';
  }
}
