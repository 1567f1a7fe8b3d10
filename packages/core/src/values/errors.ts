/** Capability that a question needs. */
export type ClientNeed =
  | 'elicitation'
  | 'elicitation.url'
  | 'sampling'
  | 'sampling.tools'
  | 'roots';

/** Error of a step as plain data, as kept in the journal. */
export interface StepErrorData {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly status?: string | number;
  /** An `Error` with the same fields, or a string or number. */
  readonly cause?: unknown;
  readonly data?: unknown;
  readonly public?: boolean;
}

/** Options of {@link SagaError}. */
export interface SagaErrorOptions {
  /** Kind of error. Default `'saga'`. */
  readonly code?: string | number;
  readonly cause?: unknown;
  /** `false` keeps the message from the client. Default `true`. */
  readonly public?: boolean;
}

/**
 * Base class of all errors of this package, and the only class whose message clients may see: throw
 * `new SagaError('Your quota is used up')` from a body or a step. Messages of other errors go only
 * to the host's hooks.
 */
export class SagaError extends Error {
  /** Name of the class, the same in each copy of this package. */
  protected static readonly className: string = 'SagaError';

  /**
   * Also accepts errors of another copy of this package: a saga, its host, and a test kit may each
   * have their own, and a body gets the errors of the engine that runs it.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      // A class of an author has no other copy.
      return Object.hasOwn(this, 'className') && namesOfClasses(value).includes(this.className);
    } catch {
      // A proxy, whose prototype cannot be read.
      return false;
    }
  }

  /** Kind of error; `'saga'` for errors thrown by authors. */
  readonly code: string | number;
  /** `true` if the message may go to the client. */
  readonly public: boolean;

  constructor(message: string, options: SagaErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SagaError';
    this.code = options.code ?? 'saga';
    this.public = options.public ?? true;
  }
}

/**
 * Names of the classes of this package, or of another copy, that a value is an instance of. Reads no
 * property by its getter: authors may throw any value.
 */
function namesOfClasses(value: unknown): readonly unknown[] {
  const names: unknown[] = [];
  if (typeof value !== 'object') return names;
  for (let its = value; its !== null; its = Object.getPrototypeOf(its) as object | null) {
    const { value: owner } = Object.getOwnPropertyDescriptor(its, 'constructor') ?? {};
    if (typeof owner === 'function' && Object.hasOwn(owner, 'className'))
      names.push(Reflect.get(owner, 'className'));
  }
  return names;
}

/**
 * Hides where the engine made an error for a body: the trace would differ between the first run and
 * a replay, and names no line of the author. V8 formats a trace when it is read, or its property is
 * defined anew, but not if the property is set.
 */
function hideTrace(error: SagaError): void {
  error.stack = `${error.name}: ${error.message}`;
}

/**
 * A step failed. Bodies always get this class, with `name`, `message`, `code`, `status`, `cause`,
 * and `data` of the thrown error, but without the thrown class and stack. Strings are cut at 1 kB,
 * and causes at the third. `data` of more than 4 kB is left out, unless a public `SagaError` has it.
 */
export class StepError extends SagaError {
  protected static override readonly className: string = 'StepError';
  /** Path of the failed step. */
  readonly stepId: string;
  /** The `status` of the thrown error, such as the status of an HTTP response. */
  readonly status: string | number | undefined;
  /** The `data` of the thrown error, through the codec; undefined above 4 kB of JSON. */
  readonly data: unknown;

  constructor(stepId: string, error: StepErrorData) {
    const { code = 'step_failed', cause } = error;
    super(error.message, { code, cause, public: error.public === true });
    this.name = error.name;
    this.stepId = stepId;
    this.status = error.status;
    this.data = error.data;
    hideTrace(this);
  }
}

/** The user, or the client for the user, declined or dismissed an elicitation. */
export class ElicitationRefused extends SagaError {
  protected static override readonly className: string = 'ElicitationRefused';
  declare readonly code: 'elicitation_refused';
  /** Path of the elicitation. */
  readonly stepId: string;
  /** `decline`: the user said no. `cancel`: the user dismissed the question. */
  readonly action: 'decline' | 'cancel';

  constructor(stepId: string, action: 'decline' | 'cancel') {
    super(`The user ${action === 'decline' ? 'declined' : 'dismissed'} the question '${stepId}'.`, {
      code: 'elicitation_refused',
    });
    this.name = 'ElicitationRefused';
    this.stepId = stepId;
    this.action = action;
    hideTrace(this);
  }
}

/** One side of a {@link ReplayMismatch}: the step in the journal, or the step of the code. */
export interface StepFacts {
  readonly kind: string;
  readonly path: string;
  readonly fingerprint: number;
}

/**
 * The code issued another command than the journal recorded: the saga changed while running, or is
 * not deterministic. Recorded results never go to another step. `cause`: error thrown by the code
 * before the end of the journal, if any.
 */
export class ReplayMismatch extends SagaError {
  protected static override readonly className: string = 'ReplayMismatch';
  declare readonly code: 'replay_mismatch';
  /** Number of journal entries that the code agrees with. */
  readonly position: number;
  /** The journal entry at this position. */
  readonly recorded: StepFacts;
  /** Commands that wait at this position; empty if the body had ended. */
  readonly asked: readonly StepFacts[];
  /**
   * `true` if the saga was cancelled and has ended. Otherwise a mismatch without an undo keeps the
   * token. Default `false`.
   */
  isFinal: boolean = false;

  constructor(position: number, recorded: StepFacts, asked: readonly StepFacts[]) {
    const found = asked.map(shownFacts).join(', ');
    const same = asked.some((step) => step.path === recorded.path && step.kind === recorded.kind);
    super(
      `The saga no longer matches its journal. At entry ${position + 1}, the journal has ${shownFacts(recorded)}, ` +
        `but the code ${found === '' ? 'asks for nothing more' : `asks for ${found}`}${same ? ' with other content' : ''}. ` +
        `Give a changed saga a new version, and read time and randomness only with now() and random().`,
      { code: 'replay_mismatch', public: false },
    );
    this.name = 'ReplayMismatch';
    this.position = position;
    this.recorded = recorded;
    this.asked = asked;
  }
}

/** Kind and path of a step for people, who do not know the internal path of an undo. */
function shownFacts({ kind, path }: StepFacts): string {
  // `values/path.ts` has these marks, and imports this file.
  const [, marker, id] = /^~(patched:|~?)(.*)$/s.exec(path) ?? [];
  if (marker === undefined) return `${kind} '${path}'`;
  return marker === 'patched:' ? `patched('${id}')` : `the undo of '${id}'`;
}

/** A client repeated the answer to an answered step with other content. */
export class AnswerConflict extends SagaError {
  protected static override readonly className: string = 'AnswerConflict';
  declare readonly code: 'answer_conflict';
  /** Path of the step. */
  readonly stepId: string;

  constructor(stepId: string) {
    const message = `Step '${stepId}' already has another answer. Repeat the first answer, or send only new answers.`;
    super(message, { code: 'answer_conflict' });
    this.name = 'AnswerConflict';
    this.stepId = stepId;
  }
}

/** A saga exceeded a limit of its host: journal entries, or commands in one turn. */
export class SagaLimitExceeded extends SagaError {
  protected static override readonly className: string = 'SagaLimitExceeded';
  declare readonly code: 'limit_exceeded';

  constructor(message: string) {
    super(message, { code: 'limit_exceeded', public: false });
    this.name = 'SagaLimitExceeded';
  }
}

/** The arguments of a saga do not fit its input schema. */
export class InvalidInput extends SagaError {
  protected static override readonly className: string = 'InvalidInput';
  declare readonly code: 'invalid_input';

  constructor(message: string) {
    super(message, { code: 'invalid_input' });
    this.name = 'InvalidInput';
  }
}

/** A step got no answer, or did not end, in time. */
export class StepTimedOut extends SagaError {
  protected static override readonly className: string = 'StepTimedOut';
  declare readonly code: 'step_timed_out';
  /** Path of the step. */
  readonly stepId: string;

  constructor(stepId: string) {
    super(`Step '${stepId}' timed out.`, { code: 'step_timed_out' });
    this.name = 'StepTimedOut';
    this.stepId = stepId;
    hideTrace(this);
  }
}

/**
 * The client lacks the capability for a step and no other source can answer, or cannot wait as long
 * as a `sleep` or `poll` takes (`wait`).
 */
export class ClientCannot extends SagaError {
  protected static override readonly className: string = 'ClientCannot';
  declare readonly code: 'client_cannot';
  /** Path of the step. */
  readonly stepId: string;
  readonly need: ClientNeed | 'wait';

  /**
   * @param why - the host's reason: a clause. Default: the client did not declare the capability.
   */
  constructor(stepId: string, need: ClientNeed | 'wait', why?: string) {
    const cannot =
      need === 'wait'
        ? `'${stepId}' takes longer than the client of this call can wait.`
        : `'${stepId}' cannot be asked: ${why ?? `the client offers no ${offers[need]} for this call.`}`;
    super(cannot, { code: 'client_cannot' });
    this.name = 'ClientCannot';
    this.stepId = stepId;
    this.need = need;
    hideTrace(this);
  }
}

const offers: Readonly<Record<ClientNeed, string>> = {
  elicitation: 'elicitation',
  'elicitation.url': 'elicitation by URL',
  sampling: 'sampling',
  'sampling.tools': 'sampling with tools',
  roots: 'roots',
};

/** The saga ended with `abort(reason)`. */
export class SagaAborted extends SagaError {
  protected static override readonly className: string = 'SagaAborted';
  declare readonly code: 'saga_aborted';

  constructor(reason: string) {
    super(reason, { code: 'saga_aborted' });
    this.name = 'SagaAborted';
  }
}

/** The saga was cancelled from outside. */
export class SagaCancelled extends SagaError {
  protected static override readonly className: string = 'SagaCancelled';
  declare readonly code: 'saga_cancelled';
  /** Reason for the cancellation. */
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super(reason === undefined ? 'The call was cancelled.' : `The call was cancelled: ${reason}`, {
      code: 'saga_cancelled',
    });
    this.name = 'SagaCancelled';
    this.reason = reason;
  }
}

/**
 * Error to throw from a step whose effect may have happened, such as after a lost response.
 * With `unknown: 'compensate'`, the `compensate` of the step then undoes it. Without, the step is
 * reported as uncompensated. Timeouts and aborts have the same effect.
 */
export class OutcomeUnknown extends SagaError {
  protected static override readonly className: string = 'OutcomeUnknown';
  declare readonly code: 'outcome_unknown';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code: 'outcome_unknown', public: false });
    this.name = 'OutcomeUnknown';
  }
}

/**
 * The request was aborted, or a service is down (`cause`). No step was undone, and the token stays
 * valid.
 */
export class TurnAborted extends SagaError {
  protected static override readonly className: string = 'TurnAborted';
  declare readonly code: 'turn_aborted';

  constructor(cause: unknown) {
    super('The request was aborted. The previous token is still valid.', {
      code: 'turn_aborted',
      cause,
    });
    this.name = 'TurnAborted';
  }
}

// Only here. Until the project has a homepage, the address is a path in the repository.
const reference = 'docs/reference';

/** Address of the documentation of an error code. */
export function errorLink(code: string | number): string {
  return `${reference}/errors.md#${code}`;
}

/** Address of the documentation of a symptom that is not an error by itself. */
export function troubleshootingLink(anchor: string): string {
  return `${reference}/troubleshooting.md#${anchor}`;
}

/**
 * A mistake in the code of a saga. The message names steps, options, and fields, never values, so
 * hosts may log the message. The last line names the page of the error.
 */
export class AuthoringError extends SagaError {
  protected static override readonly className: string = 'AuthoringError';
  declare readonly code: 'authoring_error' | 'invalid_json' | 'never_yielded';

  constructor(
    message: string,
    options?: {
      readonly code?: 'invalid_json' | 'never_yielded';
      /** Anchor of the page of errors that explains this mistake. Default: the code. */
      readonly anchor?: AuthoringAnchor;
      readonly cause?: unknown;
    },
  ) {
    const { code = 'authoring_error', anchor = code, cause } = options ?? {};
    // Clients read messages about invalid JSON.
    const page = code === 'invalid_json' ? '' : `\nSee ${errorLink(anchor)}`;
    super(withoutLink(message) + page, { cause, code, public: false });
    this.name = 'AuthoringError';
  }
}

/**
 * A command was awaited, most likely inside a step. The step may have acted before that, so its
 * outcome is unknown, and another attempt would only repeat the mistake.
 */
export class CommandAwaited extends AuthoringError {
  protected static override readonly className: string = 'CommandAwaited';
  constructor() {
    super(
      'A command was awaited, or returned by the function of a step, and nothing runs it there. Write yield* in the body of the saga.',
      { anchor: 'bodies' },
    );
  }
}

/** Mistakes that the page of errors explains one by one. */
export type AuthoringAnchor =
  | 'step-ids'
  | 'forms'
  | 'steps-in-a-loop'
  | 'keys-of-each'
  | 'missing-store'
  | 'bodies'
  | 'undos'
  | 'names-and-versions'
  | 'durations'
  | 'questions'
  | 'steps'
  | 'approvals-and-webhooks'
  | 'arguments-of-commands'
  | 'machines'
  | 'missing_option'
  | 'unknown_option'
  | 'invalid_result';

const linkAtEnd = /\nSee (docs\/\S+)$/;

/** Message of an error without the link to its documentation, which another message may quote. */
export function withoutLink(message: string): string {
  return message.replace(linkAtEnd, '');
}

/** Link to the documentation at the end of a message. */
export function linkOf(message: string): string | undefined {
  return linkAtEnd.exec(message)?.[1];
}

/**
 * `true` for an error of the library about the code of a saga, or a `StepError` made from such an
 * error.
 */
export function isAuthoringError(error: unknown): error is Error {
  if (error instanceof AuthoringError) return true;
  const { code } = (error instanceof Error ? error : {}) as { readonly code?: unknown };
  return code === 'authoring_error' || code === 'never_yielded' || code === 'unencodable';
}
