import { assertKnownOptions } from '../../values/known-options.ts';
import type { NamesOf } from '../../values/unknown-option.ts';
import type { CheckedBody } from '../checks/checked-body.ts';
import type { StoreNeed, StoreOptions } from '../checks/yielded-commands.ts';
import type { Command, SagaBody } from '../../model/command.ts';
import type { Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import type { ContentBlock } from '../../model/content.ts';
import { saga, sharedNames, type BodyInput, type SagaOptions } from './saga.ts';
import type { Schema } from '../../values/standard-schema.ts';

/** A message of a prompt, as MCP has it. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** A prompt, as MCP has it: `GetPromptResult`. */
export interface PromptResult {
  readonly messages: readonly PromptMessage[];
  readonly description?: string;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** Arguments of a prompt before parsing: MCP sends texts only. */
export interface PromptArguments {
  readonly [name: string]: string | undefined;
}

/**
 * Options of a prompt saga. `input` parses an object of texts. `completable(schema, complete)` of
 * the MCP SDK adds completions to a field.
 */
export type PromptOptions<I extends Schema<PromptArguments, unknown> | undefined> = Omit<
  SagaOptions<I, undefined>,
  'output' | keyof ToolFields | 'answeredBy' | 'task' | 'suspends'
>;

/** A saga that answers `prompts/get`. Pass it to a host. */
export interface PromptSaga<
  I extends Schema<PromptArguments, unknown> | undefined,
> extends Program {
  readonly serves: 'prompt';
  readonly input: I;
  readonly output: undefined;
  readonly body: SagaBody<BodyInput<I>, string | PromptResult>;
}

const names: NamesOf<PromptOptions<undefined>> = {
  ...sharedNames,
  input: true,
};

/**
 * Defines a prompt of several steps. The body returns the text of one user message, or a list of
 * messages.
 *
 * The body can ask the client like a tool, but the model cannot answer. Failures become errors of
 * `prompts/get`.
 * @throws AuthoringError for options that contradict each other or do not exist
 * @example
 * ```ts
 * const Topic = z.object({ topic: z.string() });
 * const review = promptSaga({ name: 'review', version: '1' }, function* () {
 *   const { topic } = yield* elicit('topic', { message: 'Review what?', schema: Topic });
 *   return `Review ${topic}.`;
 * });
 * ```
 */
export function promptSaga<
  I extends Schema<PromptArguments, unknown> | undefined = undefined,
  Y = Command<unknown>,
  const R = string | PromptResult,
  Reuse extends 'ok' | undefined = undefined,
  CommitEach extends boolean | undefined = false,
>(
  options: PromptOptions<I> & StoreOptions<Reuse, CommitEach>,
  body: CheckedBody<BodyInput<I>, Y, R, string | PromptResult>,
): PromptSaga<I> & StoreNeed<Y, Reuse, CommitEach> {
  assertKnownOptions('promptSaga', Object(options).name, options, names);
  // CheckedBody has checked the yields and the result.
  const checked = body as unknown as SagaBody<BodyInput<I>, string | PromptResult>;
  const program = saga<I>(options as never, checked as never);
  const prompt: PromptSaga<I> = { ...program, serves: 'prompt', body: checked };
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return prompt as typeof prompt & StoreNeed<Y, Reuse, CommitEach>;
}
