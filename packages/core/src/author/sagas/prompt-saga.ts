import { assertKnownOptions, optionNames } from '../../values/known-options.ts';
import type { CheckedBody } from '../checks/checked-body.ts';
import type { NeedsForks } from '../checks/needs-forks.ts';
import type { Command, SagaBody } from '../../model/command.ts';
import type { Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import { saga, type BodyInput, type ContentBlock, type SagaOptions } from './saga.ts';
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

/** What the arguments of a prompt are before they are parsed: MCP sends texts only. */
export interface PromptArguments {
  readonly [name: string]: string | undefined;
}

/**
 * What a prompt is, apart from its body. `input` is an object of texts; a schema may make something else of them. Fields
 * that are `completable(schema, complete)` of the MCP SDK get their values completed.
 */
export type PromptOptions<I extends Schema<PromptArguments, unknown> | undefined> = Omit<
  SagaOptions<I, undefined>,
  'output' | keyof ToolFields | 'modelAnswers' | 'task'
>;

/** A saga that answers `prompts/get`: give it to a host. */
export interface PromptSaga<I extends Schema<PromptArguments, unknown> | undefined> extends Program {
  readonly serves: 'prompt';
  readonly input: I;
  readonly output: undefined;
  readonly body: SagaBody<BodyInput<I>, string | PromptResult>;
}

const names = /* @__PURE__ */ optionNames<PromptOptions<undefined>>({
  name: true,
  version: true,
  title: true,
  description: true,
  input: true,
  forks: true,
  needs: true,
  commitFirst: true,
  commitEach: true,
  onMismatch: true,
  previous: true,
});

/**
 * Defines a prompt of several steps. The body returns the text of one message of the user's, or the messages.
 *
 * It can ask whom a tool can ask, but for the model, which calls no prompts; and its failures are errors, because MCP
 * has no other place for them in the answer to `prompts/get`.
 *
 * @throws AuthoringError where the options cannot be meant
 */
export function promptSaga<
  I extends Schema<PromptArguments, unknown> | undefined = undefined,
  Y = Command<unknown>,
  const R = string | PromptResult,
>(
  options: PromptOptions<I> & NeedsForks<Y>,
  body: CheckedBody<BodyInput<I>, Y, R, string | PromptResult>,
): PromptSaga<I> {
  assertKnownOptions('promptSaga', Object(options).name, options, names);
  // CheckedBody has judged what it yields and returns; saga() does the rest, whatever a body returns.
  const checked = body as unknown as SagaBody<BodyInput<I>, string | PromptResult>;
  const program = saga<I>(options, checked as never);
  return { ...program, serves: 'prompt', body: checked };
}
