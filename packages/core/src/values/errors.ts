/** What a client can be asked for. */
export type ClientNeed = 'elicitation' | 'elicitation.url' | 'sampling' | 'roots';

/** What went wrong in a step, as plain data: the only thing about an error that survives the journal. */
export interface StepErrorData {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly data?: unknown;
  readonly public?: boolean;
}

/** Options of {@link SagaError}. */
export interface SagaErrorOptions {
  /** Names the kind of error. Default `'saga'`. */
  readonly code?: string | number;
  readonly cause?: unknown;
  /** `false` keeps the message from the client. Default `true`. */
  readonly public?: boolean;
}

/**
 * Base class of all errors of this package, and the one class whose message clients may see: throw
 * `new SagaError('Your quota is used up')` from a body or a step. Messages of all other errors go to the host's hooks only.
 */
export class SagaError extends Error {
  /** Names the kind of error; `'saga'` for errors thrown by authors. */
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
 * A step failed. Bodies always get this class, replayed or not, with `name`, `message`, `code`, and `data` of the thrown error, but
 * not its class or stack.
 */
export class StepError extends SagaError {
  /** The path of the step that failed. */
  readonly stepId: string;
  /** The `data` of the thrown error, through the codec. */
  readonly data: unknown;

  constructor(stepId: string, error: StepErrorData) {
    super(error.message, { code: error.code ?? 'step_failed', public: error.public === true });
    this.name = error.name;
    this.stepId = stepId;
    this.data = error.data;
  }
}

/** The user (or the client in the user's name) said no to an elicitation, or dismissed it. */
export class ElicitationRefused extends SagaError {
  declare readonly code: 'elicitation_refused';
  /** The path of the elicitation. */
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
  }
}

/** One side of a {@link ReplayMismatch}: a step as the journal has it, or as the code asks for it now. */
export interface StepFacts {
  readonly kind: string;
  readonly path: string;
  readonly fingerprint: number;
}

/**
 * The code asked for something other than the journal recorded: the saga changed while it ran, or is not deterministic. Nothing
 * recorded goes to another step. `cause`: what the code threw before the end of its journal, if it did.
 */
export class ReplayMismatch extends SagaError {
  declare readonly code: 'replay_mismatch';
  /** How many entries of the journal the code agrees with. */
  readonly position: number;
  /** What the journal has at this position. */
  readonly recorded: StepFacts;
  /** What the code waits for at this position; empty when the body had already ended. */
  readonly asked: readonly StepFacts[];
  /** `true` if the saga was cancelled and has ended. Otherwise a mismatch that undid nothing keeps its token. Default `false`. */
  isFinal: boolean = false;

  constructor(position: number, recorded: StepFacts, asked: readonly StepFacts[]) {
    const found = asked.map((step) => `${step.kind} '${step.path}'`).join(', ');
    const same = asked.some((step) => step.path === recorded.path && step.kind === recorded.kind);
    super(
      `The saga no longer does what its journal says. At entry ${position + 1} the journal has ${recorded.kind} ` +
        `'${recorded.path}', the code asks for ${found === '' ? 'nothing more' : found}` +
        `${same ? ' with other content' : ''}. ` +
        `Was the saga changed without a new version, or does its body read something that varies ` +
        `(time, randomness, a global)?`,
      { code: 'replay_mismatch', public: false },
    );
    this.name = 'ReplayMismatch';
    this.position = position;
    this.recorded = recorded;
    this.asked = asked;
  }
}

/** A client repeated the answer to a step that was answered before, and it is not the same answer. */
export class AnswerConflict extends SagaError {
  declare readonly code: 'answer_conflict';
  /** The path of the step. */
  readonly stepId: string;

  constructor(stepId: string) {
    super(
      `Step '${stepId}' was answered otherwise before. Send the answer it was given, or only the new ones.`,
      {
        code: 'answer_conflict',
      },
    );
    this.name = 'AnswerConflict';
    this.stepId = stepId;
  }
}

/** A saga went over a limit of its host: too many journal entries, or too many commands in one turn. */
export class SagaLimitExceeded extends SagaError {
  declare readonly code: 'limit_exceeded';

  constructor(message: string) {
    super(message, { code: 'limit_exceeded', public: false });
    this.name = 'SagaLimitExceeded';
  }
}

/** The arguments of a saga do not fit its input schema. */
export class InvalidInput extends SagaError {
  declare readonly code: 'invalid_input';

  constructor(message: string) {
    super(message, { code: 'invalid_input' });
    this.name = 'InvalidInput';
  }
}

/** A step was not answered, or not done, in the time it had. (W6) */
export class StepTimedOut extends SagaError {
  declare readonly code: 'step_timed_out';
  /** The path of the step. */
  readonly stepId: string;

  constructor(stepId: string) {
    super(`The time for '${stepId}' is over.`, { code: 'step_timed_out' });
    this.name = 'StepTimedOut';
    this.stepId = stepId;
  }
}

/**
 * The client lacks the capability for a step and no other source can answer, or cannot wait as long as a `sleep` or `poll`
 * takes (`wait`).
 */
export class ClientCannot extends SagaError {
  declare readonly code: 'client_cannot';
  /** The path of the step. */
  readonly stepId: string;
  readonly need: ClientNeed | 'wait';

  /** @param why - the reason that the host has: a clause. Default: the client did not declare the capability. */
  constructor(stepId: string, need: ClientNeed | 'wait', why?: string) {
    const cannot =
      need === 'wait'
        ? `'${stepId}' takes longer than the client of this call can be kept waiting.`
        : `'${stepId}' cannot be asked: ${why ?? `the client offers no ${offers[need]} for this call.`}`;
    super(cannot, { code: 'client_cannot' });
    this.name = 'ClientCannot';
    this.stepId = stepId;
    this.need = need;
  }
}

const offers: Readonly<Record<ClientNeed, string>> = {
  elicitation: 'elicitation',
  'elicitation.url': 'elicitation by URL',
  sampling: 'sampling',
  roots: 'roots',
};

/** The saga ended itself with `abort(reason)`. */
export class SagaAborted extends SagaError {
  declare readonly code: 'saga_aborted';

  constructor(reason: string) {
    super(reason, { code: 'saga_aborted' });
    this.name = 'SagaAborted';
  }
}

/** The saga was cancelled from outside. */
export class SagaCancelled extends SagaError {
  declare readonly code: 'saga_cancelled';
  /** The reason that was given. */
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
 * Throw it from a step if its effect may have happened, such as after a lost response. `compensateUnknown` then undoes the step,
 * or it is residue. A timeout or abort counts as such.
 */
export class OutcomeUnknown extends SagaError {
  declare readonly code: 'outcome_unknown';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code: 'outcome_unknown', public: false });
    this.name = 'OutcomeUnknown';
  }
}

/** The turn was aborted by its request, or since a service is down (`cause`). Nothing was undone; the token stays good. */
export class TurnAborted extends SagaError {
  declare readonly code: 'turn_aborted';

  constructor(cause: unknown) {
    super('The request was aborted; the token before it is still good.', { code: 'turn_aborted', cause });
    this.name = 'TurnAborted';
  }
}

/** A mistake in the code of a saga. The message names steps, options, and fields, never values, so that hosts may log it. */
export class AuthoringError extends SagaError {
  declare readonly code: 'authoring_error' | 'invalid_json';

  constructor(message: string, options?: { readonly code?: 'invalid_json'; readonly cause?: unknown }) {
    super(message, { code: 'authoring_error', ...options, public: false });
    this.name = 'AuthoringError';
  }
}

/**
 * Tells the library's own errors about the code of a saga from all that its code throws.
 *
 * @returns `true` as well for a `StepError` that stands for one
 */
export function isAuthoringError(error: unknown): error is Error {
  if (error instanceof AuthoringError) return true;
  const { code } = (error instanceof Error ? error : {}) as { readonly code?: unknown };
  return code === 'authoring_error' || code === 'unencodable';
}
