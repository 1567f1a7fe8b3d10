import { command, type Command } from './command.ts';
import { assertStepId, checkedTtl } from './path.ts';
import type { InferOutput, Schema } from './standard-schema.ts';

/** What `elicit` asks. */
export interface ElicitOptions<S extends Schema> {
  /** What the user reads above the form. */
  readonly message: string;
  /**
   * The fields of the form: a flat object schema (zod 4, or any Standard Schema that gives a JSON Schema). Hoist it
   * out of the body, so that it is built once.
   */
  readonly schema: S;
  /**
   * Milliseconds the user has, counted from when the question is first asked. An answer after that is not used:
   * `StepTimedOut` is thrown at the step. Default: as long as the token is good.
   */
  readonly ttl?: number;
}

/** What became of an elicitation, with the accepted content. */
export type ElicitOutcome<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

function ask<S extends Schema, T>(id: string, options: ElicitOptions<S>, asOutcome: boolean): Command<T> {
  assertStepId(id);
  const { message, schema, ttl } = options;
  if (typeof message !== 'string') throw new TypeError(`elicit('${id}') needs a message, a string.`);
  if (schema?.['~standard'] === undefined) {
    throw new TypeError(`elicit('${id}') needs a schema: z.object({…}), or another Standard Schema.`);
  }
  return command<T>({ kind: 'elicit', id, message, schema, asOutcome, ttl: checkedTtl(id, ttl) });
}

/** The type of {@link elicit}: a function, and beside it `elicit.outcome`. */
export interface Elicit {
  /**
   * Asks the user with a form, and gives the accepted content, typed and parsed by the schema.
   *
   * @throws ElicitationRefused (in the body) when the user declines or dismisses the question
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
 */
export function elicitUrl(
  id: string,
  options: { readonly message: string; readonly url: string; readonly ttl?: number },
): Command<void> {
  assertStepId(id);
  const { message, url, ttl } = options;
  if (!URL.canParse(url)) throw new TypeError(`elicitUrl('${id}') needs an absolute URL.`);
  return command<void>({ kind: 'elicitUrl', id, message, url, ttl: checkedTtl(id, ttl) });
}
