import type { Root, SampleParams, SampleResult } from './client-step.ts';
import { command, type Command } from './command.ts';
import { assertStepId } from './path.ts';

/**
 * Asks the client's model: MCP's `sampling/createMessage`.
 *
 * @throws StepError (in the body) when the client answers with an error
 */
export function sample(id: string, params: SampleParams): Command<SampleResult> {
  assertStepId(id);
  if (!Array.isArray(params.messages) || !Number.isInteger(params.maxTokens)) {
    throw new TypeError(`sample('${id}') needs messages, an array, and maxTokens, a whole number.`);
  }
  return command<SampleResult>({ kind: 'sample', id, params });
}

/** Asks which roots the client offers: MCP's `roots/list`. */
export function listRoots(id: string): Command<readonly Root[]> {
  assertStepId(id);
  return command<readonly Root[]>({ kind: 'roots', id });
}
