import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Root, SampleParams, SampleResult } from '../model/client-step.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import { assertStepId, checkedTtl } from '../values/path.ts';

interface SampleOptions {
  readonly timeoutMs?: number;
}

const none: SampleOptions = {};
const names = /* @__PURE__ */ optionNames<SampleOptions>({ timeoutMs: true });
const paramNames = /* @__PURE__ */ optionNames<SampleParams>({
  messages: true,
  maxTokens: true,
  systemPrompt: true,
  temperature: true,
  stopSequences: true,
  modelPreferences: true,
  metadata: true,
});

/**
 * Asks the client's model: MCP's `sampling/createMessage`.
 *
 * @param options - `timeoutMs`: milliseconds the model has, counted from when it is first asked
 * @throws StepTimedOut (in the body) when the answer comes later
 * @throws ClientCannot (in the body) where the client has no model, and the host does not sample in its stead
 * @throws StepError (in the body) when the client answers with an error
 */
export function sample(
  id: string,
  params: SampleParams,
  options: SampleOptions = none,
): Command<SampleResult> {
  assertStepId(id);
  assertKnownOptions('sample', id, params, paramNames);
  if (options !== none) assertKnownOptions('options of sample', id, options, names);
  if (!Array.isArray(params.messages) || !Number.isInteger(params.maxTokens)) {
    throw new AuthoringError(`sample('${id}') needs messages, an array, and maxTokens, a whole number.`);
  }
  return command<SampleResult>({ kind: 'sample', id, params, ttl: checkedTtl(id, options.timeoutMs) });
}

/**
 * Asks which roots the client offers: MCP's `roots/list`.
 *
 * @throws ClientCannot (in the body) where the client offers none to ask for
 */
export function listRoots(id: string): Command<readonly Root[]> {
  assertStepId(id);
  return command<readonly Root[]>({ kind: 'roots', id });
}
