import { formOf } from '../values/form.ts';
import type { Answerer } from '../model/answerer.ts';
import { assertAnsweredBy } from './checks/assert-answered-by.ts';
import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import type { Duration } from '../values/duration.ts';
import { AuthoringError } from '../values/errors.ts';
import { asking, command } from '../effects/make-command.ts';
import type { CheckedForm } from './checks/checked-form-type.ts';
import type { AskingCommand, Command } from '../model/command.ts';
import { assertStepId, checkedTimeout } from '../values/path.ts';
import type { StepContext } from './step.ts';
import type { InferInput, InferOutput, Schema } from '../values/standard-schema.ts';

/** Context of a fallback: the same as of a server step. */
export type FallbackContext = Omit<StepContext<undefined>, 'input'>;

/** Options of {@link elicit}. */
export interface ElicitOptions<S extends Schema> {
  /** Text above the form. */
  readonly message: string;
  /**
   * Fields of the form: a flat object schema of zod 4, or another Standard Schema with JSON Schema
   * (see `withJsonSchema`). A list of choices from a step may be made in the body. Throws an
   * `AuthoringError` if the schema cannot be a form, or no client could fill in the form.
   */
  readonly schema: CheckedForm<InferInput<S>, S>;
  /**
   * Time from the first time the question is asked; fractions of a millisecond are rounded up. An
   * answer over 30 s later is dropped: the step throws `StepTimedOut`. Default and maximum: the
   * lifetime of the token.
   */
  readonly timeout?: Duration;
  /**
   * Who may answer, in this order: `client` (the user), `model` (the model that calls the tool, if
   * the host allows it, and only behind `client`), `fallback`. Default: `answeredBy` of the saga.
   */
  readonly answeredBy?: readonly Answerer[];
  /**
   * Answer to use if the client cannot be asked, parsed by the schema: a content, or a function
   * that runs like a server step. If the function throws or the answer is invalid, the step throws
   * a `StepError`.
   */
  readonly fallback?:
    | InferInput<S>
    | ((step: FallbackContext) => InferInput<S> | PromiseLike<InferInput<S>>);
}

/** Options of {@link elicitUrl}. */
export interface ElicitUrlOptions {
  /** Text beside the link. */
  readonly message: string;
  /** Absolute URL to open. */
  readonly url: string;
  /**
   * Time to answer, from the first time the question is asked. Default: the lifetime of the token.
   */
  readonly timeout?: Duration;
  /** Who may answer: see {@link ElicitOptions.answeredBy}. */
  readonly answeredBy?: readonly Answerer[];
}

/** Outcome of an elicitation, with the accepted content. */
export type ElicitOutcome<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

const formNames: NamesOf<ElicitOptions<Schema>> = {
  message: true,
  schema: true,
  timeout: true,
  answeredBy: true,
  fallback: true,
};
const urlNames: NamesOf<ElicitUrlOptions> = {
  message: true,
  url: true,
  timeout: true,
  answeredBy: true,
};

function ask<S extends Schema, T>(
  id: string,
  options: ElicitOptions<S>,
  asOutcome: boolean,
): AskingCommand<T> {
  assertStepId(id);
  assertKnownOptions(asOutcome ? 'elicit.outcome' : 'elicit', id, options, formNames);
  const { message, timeout, fallback } = options;
  const schema = options.schema as S;
  if (typeof message !== 'string')
    throw new AuthoringError(`elicit('${id}') needs a message, a string.`, { anchor: 'questions' });
  if (schema?.['~standard'] === undefined) {
    throw new AuthoringError(
      `elicit('${id}') needs a schema: z.object({…}), or another Standard Schema.`,
      { anchor: 'forms' },
    );
  }
  // Checked early: when the client is asked, steps beside the question have run.
  formOf(id, schema);
  assertAnsweredBy(`elicit('${id}')`, options.answeredBy);
  return asking<T>({
    kind: 'elicit',
    id,
    message,
    schema,
    asOutcome,
    ttl: checkedTimeout(id, timeout),
    answeredBy: options.answeredBy,
    fallback,
  });
}

/** Type of {@link elicit}: a function with the method `outcome`. */
export interface Elicit {
  /**
   * Asks the user with a form, and returns the accepted content, typed and parsed by the schema.
   * @throws ElicitationRefused (in the body) when the user declines or dismisses the question
   * @throws ClientCannot (in the body) if the client cannot be asked and the question has no
   * fallback
   * @throws StepError (in the body) when the client answers with an error
   */
  <S extends Schema>(id: string, options: ElicitOptions<S>): AskingCommand<InferOutput<S>>;
  /**
   * Like `elicit`, but returns a refusal as a value: `{action: 'decline'}` or `{action: 'cancel'}`.
   */
  outcome<S extends Schema>(
    id: string,
    options: ElicitOptions<S>,
  ): AskingCommand<ElicitOutcome<InferOutput<S>>>;
}

/**
 * Asks the user with a form: MCP's `elicitation/create`. See {@link Elicit} for errors and for
 * `elicit.outcome`.
 * @example
 * ```ts
 * const Seats = z.object({ seats: z.number().int().min(1) });
 * const book = saga({ name: 'book', version: '1' }, function* () {
 *   const { seats } = yield* elicit('seats', { message: 'How many seats?', schema: Seats });
 *   return `Booked ${seats} seats.`;
 * });
 * ```
 */
export const elicit: Elicit = /* @__PURE__ */ Object.assign(
  <S extends Schema>(id: string, options: ElicitOptions<S>): AskingCommand<InferOutput<S>> =>
    ask(id, options, false),
  {
    outcome: <S extends Schema>(
      id: string,
      options: ElicitOptions<S>,
    ): AskingCommand<ElicitOutcome<InferOutput<S>>> => ask(id, options, true),
  },
);

/** Type of {@link elicitUrl}: a function with the method `complete`. */
export interface ElicitUrl {
  /**
   * Sends the user to a URL. Returns when the user agrees to open the URL: check in a step that the
   * user finished there.
   * @throws ElicitationRefused (in the body) when the user declines or dismisses the question
   * @throws ClientCannot (in the body) if the client does not support elicitation by URL
   */
  (id: string, options: ElicitUrlOptions): AskingCommand<void>;
  /**
   * Tells the client that the user has finished at the URL, once and never on replay: MCP's
   * `notifications/elicitation/complete`. A client may close its hint to the page then. Sent only to
   * a client of MCP 2025-11-25 that waits for a response in a session or over stdio; for all others,
   * it does nothing.
   * @param id - ID of the newest `elicitUrl` with this ID in the scope, or a full path
   * @throws AuthoringError (in the body) if no such `elicitUrl` was answered before
   */
  complete(id: string): Command<void>;
}

/**
 * Sends the user to a URL: MCP's `elicitation/create` in the mode `url`. See {@link ElicitUrl} for
 * errors and for `elicitUrl.complete`.
 * @example
 * ```ts
 * function* connect(): Steps<void> {
 *   yield* elicitUrl('connect', { message: 'Connect your bank', url: 'https://bank.example/oauth' });
 *   yield* poll('connected', () => bank.isConnected(), { every: '2s', timeout: '10m' });
 *   yield* elicitUrl.complete('connect');
 * }
 * ```
 */
export const elicitUrl: ElicitUrl = /* @__PURE__ */ Object.assign(askUrl, {
  complete: (id: string): Command<void> => command<void>({ kind: 'completeUrl', id }),
});

function askUrl(id: string, options: ElicitUrlOptions): AskingCommand<void> {
  assertStepId(id);
  assertKnownOptions('elicitUrl', id, options, urlNames);
  const { message, url, timeout } = options;
  if (typeof message !== 'string')
    throw new AuthoringError(`elicitUrl('${id}') needs a message, a string.`, {
      anchor: 'questions',
    });
  if (!URL.canParse(url))
    throw new AuthoringError(`elicitUrl('${id}') needs an absolute URL.`, { anchor: 'questions' });
  assertAnsweredBy(`elicitUrl('${id}')`, options.answeredBy);
  return asking<void>({
    kind: 'elicitUrl',
    id,
    message,
    url,
    ttl: checkedTimeout(id, timeout),
    answeredBy: options.answeredBy,
  });
}
