import { assertKnownOptions, assertOneOf, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/effect-of.ts';
import type { CheckedForm } from './checks/checked-form.ts';
import type { Command } from '../model/command.ts';
import { formOf } from '../values/form-of.ts';
import { assertStepId, checkedTtl } from '../values/path.ts';
import type { StepContext } from './step.ts';
import type { InferInput, InferOutput, LooseFields, Schema } from '../values/standard-schema.ts';

/** What a fallback gets to work with: the same as a server step. */
export type FallbackContext = Omit<StepContext<undefined>, 'input'>;

/** What `elicit` asks. */
export interface ElicitOptions<S extends Schema> {
  /** What the user reads above the form. */
  readonly message: string;
  /**
   * Fields of the form: a flat object schema (zod 4, or any Standard Schema with JSON Schema), made once outside of the body.
   * A schema that makes no form throws an `AuthoringError`.
   */
  readonly schema: (S & CheckedForm<InferInput<S>>) | LooseFields;
  /**
   * Milliseconds from the first time the question is asked; fractions are rounded up. An answer over 30 s later is not used:
   * the step throws `StepTimedOut`. Default and maximum: the lifetime of the token.
   */
  readonly timeoutMs?: number;
  /** `client`: only the client may answer; `model`: also the model that calls the tool. Default: `modelAnswers` of saga or host. */
  readonly accept?: 'client' | 'model';
  /**
   * Answer to use when the client cannot be asked, parsed by the schema: a content, or a function that runs like a server step.
   * `StepError` if it throws or does not fit.
   */
  readonly fallback?: InferInput<S> | ((step: FallbackContext) => InferInput<S> | PromiseLike<InferInput<S>>);
}

/** What `elicitUrl` asks. */
export interface ElicitUrlOptions {
  /** What the user reads beside the link. */
  readonly message: string;
  /** Where the user is sent: an absolute URL. */
  readonly url: string;
  /** Milliseconds the user has, counted from when it is first asked. Default: as long as the token is good. */
  readonly timeoutMs?: number;
  /** Who may answer: see {@link ElicitOptions.accept}. */
  readonly accept?: 'client' | 'model';
}

/** What became of an elicitation, with the accepted content. */
export type ElicitOutcome<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

const formNames = /* @__PURE__ */ optionNames<ElicitOptions<Schema>>({
  message: true,
  schema: true,
  timeoutMs: true,
  accept: true,
  fallback: true,
});
const urlNames = /* @__PURE__ */ optionNames<ElicitUrlOptions>({
  message: true,
  url: true,
  timeoutMs: true,
  accept: true,
});

function ask<S extends Schema, T>(id: string, options: ElicitOptions<S>, asOutcome: boolean): Command<T> {
  assertStepId(id);
  assertKnownOptions(asOutcome ? 'elicit.outcome' : 'elicit', id, options, formNames);
  const { message, timeoutMs: ttl, fallback } = options;
  const schema = options.schema as S;
  if (typeof message !== 'string') throw new AuthoringError(`elicit('${id}') needs a message, a string.`);
  if (schema?.['~standard'] === undefined) {
    throw new AuthoringError(`elicit('${id}') needs a schema: z.object({…}), or another Standard Schema.`);
  }
  // Said here and not when the client is asked: what runs beside the question has then been done.
  formOf(id, schema);
  assertOneOf(`accept of '${id}'`, options.accept, answerers);
  return command<T>({
    kind: 'elicit',
    id,
    message,
    schema,
    asOutcome,
    ttl: checkedTtl(id, ttl),
    accept: options.accept,
    fallback,
  });
}

const answerers = ['client', 'model'];

/** The type of {@link elicit}: a function, and beside it `elicit.outcome`. */
export interface Elicit {
  /**
   * Asks the user with a form, and gives the accepted content, typed and parsed by the schema.
   *
   * @throws ElicitationRefused (in the body) when the user declines or dismisses the question
   * @throws ClientCannot (in the body) where the client cannot be asked, and there is no fallback
   * @throws StepError (in the body) when the client answers with an error
   */
  <S extends Schema>(id: string, options: ElicitOptions<S>): Command<InferOutput<S>>;
  /** The same, but a refusal comes back as a value: `{action: 'decline'}` or `{action: 'cancel'}`. */
  outcome<S extends Schema>(id: string, options: ElicitOptions<S>): Command<ElicitOutcome<InferOutput<S>>>;
}

/** Asks the user with a form: MCP's `elicitation/create`. */
export const elicit: Elicit = /* @__PURE__ */ Object.assign(
  <S extends Schema>(id: string, options: ElicitOptions<S>): Command<InferOutput<S>> =>
    ask(id, options, false),
  {
    outcome: <S extends Schema>(
      id: string,
      options: ElicitOptions<S>,
    ): Command<ElicitOutcome<InferOutput<S>>> => ask(id, options, true),
  },
);

/**
 * Sends the user to a URL. It returns when the user agreed to open it, which does not mean that anything was done
 * there: let a step check.
 *
 * @throws ElicitationRefused (in the body) when the user declines or dismisses it
 * @throws ClientCannot (in the body) where the client cannot be asked
 */
export function elicitUrl(id: string, options: ElicitUrlOptions): Command<void> {
  assertStepId(id);
  assertKnownOptions('elicitUrl', id, options, urlNames);
  const { message, url, timeoutMs: ttl } = options;
  if (typeof message !== 'string') throw new AuthoringError(`elicitUrl('${id}') needs a message, a string.`);
  if (!URL.canParse(url)) throw new AuthoringError(`elicitUrl('${id}') needs an absolute URL.`);
  assertOneOf(`accept of '${id}'`, options.accept, answerers);
  return command<void>({
    kind: 'elicitUrl',
    id,
    message,
    url,
    ttl: checkedTtl(id, ttl),
    accept: options.accept,
  });
}
