import {
  type Json,
  type Program,
  type PromptResult,
  type ResourceResult,
  type ToolResult,
} from '@mcp-saga/core';
import { assertJson, InvalidJson, validate } from '@mcp-saga/core/program';
import { SagaHostError } from './errors.ts';

/** Whether a body returned a whole tool result. */
export function isToolResult(value: unknown): value is ToolResult {
  return isList(value, 'content');
}

/** Whether a body returned the messages of a prompt. */
export function isPromptResult(value: unknown): value is PromptResult {
  return isList(value, 'messages');
}

/** Whether a body returned the contents of a resource. */
export function isResourceResult(value: unknown): value is ResourceResult {
  return isList(value, 'contents');
}

function isList(value: unknown, field: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as { [field: string]: unknown })[field])
  );
}

/** Checks a result against the schema of its saga. Throws `invalid_result`, naming the path and never a value. */
export async function checkedResult(
  program: Partial<Pick<Program, 'name' | 'output' | 'serves'>>,
  returned: unknown,
): Promise<object | string> {
  try {
    return await checked(program, returned);
  } catch (error) {
    if (!(error instanceof InvalidResult)) throw error;
    const name = program.name === undefined ? '' : `'${program.name}': `;
    throw new SagaHostError('invalid_result', name + error.message, { public: false });
  }
}

/** What is wrong with a result; whose it is, is said elsewhere. */
class InvalidResult extends Error {}

async function checked(
  program: Partial<Pick<Program, 'output' | 'serves'>>,
  returned: unknown,
): Promise<object | string> {
  if (program.serves === 'prompt') return checkedPrompt(returned);
  if (program.serves === 'resource') return checkedResource(returned);
  if (program.output !== undefined) {
    const parsed = await validate(program.output, returned);
    if (parsed.ok) return toJsonObject(parsed.value);
    throw invalid(`its result does not fit its output schema: ${parsed.issues}`);
  }
  if (typeof returned === 'string') return returned;
  if (isToolResult(returned)) {
    const result = toJsonObject(returned) as unknown as ToolResult;
    const bad = result.content.findIndex((block) => typeof block?.type !== 'string');
    if (bad === -1) return result;
    throw invalid(`its result has no content block at content[${bad}]`);
  }
  throw invalid(
    returned === undefined
      ? 'it has no result. Let its body return a string, a tool result, or a value with an `output` schema; a machine gives ' +
          'it as its `output`'
      : 'its result is neither a string nor a tool result. Give the saga an `output` schema to return a value',
  );
}

function checkedPrompt(returned: unknown): string | PromptResult {
  if (typeof returned === 'string') return returned;
  if (!isPromptResult(returned)) throw invalid('its result is neither a string nor the messages of a prompt');
  const result = toJsonObject(returned) as unknown as PromptResult;
  const bad = result.messages.findIndex(
    (message) =>
      (message?.role !== 'user' && message?.role !== 'assistant') ||
      typeof message.content?.type !== 'string',
  );
  if (bad === -1) return result;
  throw invalid(`its result has no message of a user or an assistant at messages[${bad}]`);
}

function checkedResource(returned: unknown): string | ResourceResult {
  if (typeof returned === 'string') return returned;
  if (!isResourceResult(returned))
    throw invalid('its result is neither a string nor the contents of a resource');
  const result = toJsonObject(returned) as unknown as ResourceResult;
  const bad = result.contents.findIndex(
    (contents) =>
      typeof contents?.uri !== 'string' ||
      (typeof contents.text === 'string') === (typeof contents.blob === 'string'),
  );
  if (bad === -1) return result;
  throw invalid(`its result has no uri with a text or a blob at contents[${bad}]`);
}

/** A result as the wire will have it. A transport that failed on it would leave the client without any answer. */
function toJsonObject(value: unknown): { readonly [key: string]: Json } {
  const result = toJson(value);
  if (typeof result === 'object' && result !== null && !Array.isArray(result))
    return result as { readonly [key: string]: Json };
  throw invalid('its result is not an object, which it has to be');
}

function toJson(value: unknown): Json {
  let odd: string | undefined;
  try {
    const text = JSON.stringify(value, function (this: Record<string, unknown>, key, item: unknown) {
      if (isJsonLike(this[key])) return item;
      odd ??= key;
      return null;
    });
    const result: unknown = text === undefined ? null : JSON.parse(text);
    if (odd !== undefined) throw invalid(`its result is not JSON: see '${odd}'`);
    assertJson(result, { where: 'result' });
    return result;
  } catch (error) {
    if (error instanceof InvalidResult) throw error;
    if (error instanceof InvalidJson) throw invalid(`its result is not JSON: ${error.message}`);
    throw invalid('its result cannot be written as JSON');
  }
}

/** Whether JSON.stringify says what a value is. It leaves out members that are undefined. */
function isJsonLike(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return false;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null || value instanceof Date;
}

function invalid(message: string): InvalidResult {
  return new InvalidResult(message);
}
