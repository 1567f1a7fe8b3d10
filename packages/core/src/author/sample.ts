import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import type { Duration } from '../values/duration.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Root, SampleParams, SampleResult, SampleTool } from '../model/client-step.ts';
import { asking } from '../effects/make-command.ts';
import type { Answerer } from '../model/answerer.ts';
import { assertAnsweredBy } from './checks/assert-answered-by.ts';
import type { AskingCommand } from '../model/command.ts';
import { assertStepId, checkedTimeout } from '../values/path.ts';

interface SampleOptions {
  readonly timeout?: Duration;
  readonly answeredBy?: readonly Answerer[];
}

const none: SampleOptions = {};
const names: NamesOf<SampleOptions> = { timeout: true, answeredBy: true };
const paramNames: NamesOf<SampleParams> = {
  messages: true,
  maxTokens: true,
  systemPrompt: true,
  temperature: true,
  stopSequences: true,
  modelPreferences: true,
  metadata: true,
  tools: true,
  toolChoice: true,
};

/**
 * Asks the client's model: MCP's `sampling/createMessage`, which MCP 2026-07-28 has deprecated. A
 * host answers with its own model if it has the option `answerers.sampling`, and `answeredBy` has
 * `fallback`. With `tools`, the model
 * may answer with calls of tools in `blocks`: run them in steps, and sample again with their
 * results.
 * @param options - `timeout`: time that the model has, from the first time it is asked;
 * `answeredBy`: who may answer, as for `elicit`, where `fallback` is the host's own model
 * @throws StepTimedOut (in the body) when the answer arrives later
 * @throws ClientCannot (in the body) if neither the client nor the host can sample
 * @throws StepError (in the body) when the client answers with an error
 * @example
 * ```ts
 * function* title(text: string): Steps<string> {
 *   const { content } = yield* sample('title', {
 *     messages: [{ role: 'user', content: { type: 'text', text: `A title for: ${text}` } }],
 *     maxTokens: 50,
 *   });
 *   return content.type === 'text' ? content.text : 'Untitled';
 * }
 * ```
 */
export function sample(
  id: string,
  params: SampleParams,
  options: SampleOptions = none,
): AskingCommand<SampleResult> {
  assertStepId(id);
  assertKnownOptions('sample', id, params, paramNames);
  if (options !== none) assertKnownOptions('options of sample', id, options, names);
  if (!Array.isArray(params.messages) || !Number.isInteger(params.maxTokens)) {
    throw new AuthoringError(
      `sample('${id}') needs messages, an array, and maxTokens, a whole number.`,
      { anchor: 'questions' },
    );
  }
  const { tools } = params;
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isTool)))
    throw new AuthoringError(
      `sample('${id}') needs tools with a name, and with an inputSchema of the type 'object'.`,
      { anchor: 'questions' },
    );
  const { answeredBy, timeout } = options;
  assertAnsweredBy(`sample('${id}')`, answeredBy);
  return asking<SampleResult>({
    kind: 'sample',
    id,
    params,
    ttl: checkedTimeout(id, timeout),
    answeredBy,
  });
}

/** JavaScript code, and a schema of another library, may give anything. */
function isTool(tool: unknown): boolean {
  const { name, inputSchema } = Object(tool) as Partial<SampleTool>;
  return typeof name === 'string' && name !== '' && Object(inputSchema).type === 'object';
}

/**
 * Asks the client for its roots: MCP's `roots/list`, which MCP 2026-07-28 has deprecated.
 * @throws ClientCannot (in the body) if the client does not support roots
 * @example
 * ```ts
 * function* folders(): Steps<string[]> {
 *   const roots = yield* listRoots('roots');
 *   return roots.map(({ uri }) => uri);
 * }
 * ```
 */
export function listRoots(id: string): AskingCommand<readonly Root[]> {
  assertStepId(id);
  return asking<readonly Root[]>({ kind: 'roots', id });
}
