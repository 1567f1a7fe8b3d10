import { validate, type Program, type ToolResult } from '@mcp-saga/core';
import { SagaHostError } from './errors.ts';

/** Whether a body returned a whole tool result. */
export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<ToolResult>).content);
}

/**
 * Checks what a body returned against what its saga declares.
 *
 * @throws SagaHostError `invalid_result`, naming the path and never a value
 */
export async function checkedResult(program: Program, returned: unknown): Promise<unknown> {
  if (program.output !== undefined) {
    const parsed = await validate(program.output, returned);
    if (parsed.ok) return parsed.value;
    throw invalid(`its result does not fit its output schema: ${parsed.issues}`);
  }
  if (typeof returned === 'string' || isToolResult(returned)) return returned;
  throw invalid(
    'its result is neither a string nor a tool result. Declare an output schema to return a value',
  );
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_result', message, { public: false });
}
