import {
  type Json,
  type Program,
  type PromptResult,
  type ResourceResult,
  type ToolResult,
} from '@mcp-saga/core';
import { assertJson, InvalidJson, isJsonObject, isRecord, validate } from '@mcp-saga/core/program';
import type { CompletedTurn } from '../model/turn.ts';
import { SagaHostError } from './errors.ts';

/** Complete results of bodies, by the field of their list. */
interface ListedResults {
  readonly content: ToolResult;
  readonly messages: PromptResult;
  readonly contents: ResourceResult;
}

/** `true` if a body returned a complete result, with a list in `field`. */
export function hasList<F extends keyof ListedResults>(
  value: unknown,
  field: F,
): value is ListedResults[F] {
  return typeof value === 'object' && Array.isArray((Object(value) as Fields)[field]);
}

/** The part of a completed turn that its result decides. */
export function completedBy(
  { output }: Partial<Pick<Program, 'output'>>,
  result: unknown,
): Pick<CompletedTurn, 'status' | 'result' | 'isContent'> {
  // A value of an output schema may have a list of this name, too.
  const isContent = output === undefined && hasList(result, 'content');
  return { status: 'completed', result, ...(isContent && { isContent }) };
}

/**
 * Checks a result by the schema of its saga. Throws `invalid_result` with the path, never a value.
 */
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

/** Defect of a result, before the name of its saga is added. */
class InvalidResult extends Error {}

type Fields = { readonly [name: string]: unknown };

/** Structured results per kind of saga: the list in `field`, and the check of its items. */
const structured = {
  tool: {
    field: 'content',
    name: 'a tool result. Add an `output` schema to return other values',
    isValid: ({ type }: Fields): boolean => typeof type === 'string',
  },
  prompt: {
    field: 'messages',
    name: 'the messages of a prompt',
    isValid: ({ role, content }: Fields): boolean =>
      (role === 'user' || role === 'assistant') &&
      typeof (Object(content) as Fields)['type'] === 'string',
  },
  resource: {
    field: 'contents',
    name: 'the contents of a resource',
    isValid: ({ uri, text, blob }: Fields): boolean =>
      typeof uri === 'string' && (typeof text === 'string') !== (typeof blob === 'string'),
  },
} as const;

async function checked(
  { serves = 'tool', output }: Partial<Pick<Program, 'output' | 'serves'>>,
  returned: unknown,
): Promise<object | string> {
  if (serves === 'tool' && output !== undefined) {
    const parsed = await validate(output, returned);
    if (parsed.ok) return toJsonObject(parsed.value);
    throw new InvalidResult(`the result does not match the output schema: ${parsed.issues}`);
  }
  if (typeof returned === 'string') return returned;
  const { field, name, isValid } = structured[serves];
  if (hasList(returned, field)) {
    const result = toJsonObject(returned);
    const bad = (result[field] as readonly unknown[]).findIndex(
      (item) => !isValid(Object(item) as Fields),
    );
    if (bad === -1) return result;
    throw new InvalidResult(`the result is invalid at ${field}[${bad}]`);
  }
  throw new InvalidResult(
    returned === undefined
      ? 'the result is missing. Return a string, a tool result, or a value with an `output` schema; from a machine, as `output`.'
      : `the result is neither a string nor ${name}.`,
  );
}

/**
 * Converts a result to JSON. A failure in the transport would leave the client without a response.
 */
function toJsonObject(value: unknown): { readonly [key: string]: Json } {
  const result = toJson(value);
  if (isJsonObject(result)) return result;
  throw new InvalidResult('the result is not an object');
}

function toJson(value: unknown): Json {
  let odd: string | undefined;
  try {
    const text = JSON.stringify(
      value,
      function (this: Record<string, unknown>, key, item: unknown) {
        if (isJsonLike(this[key])) return item;
        odd ??= key;
        return null;
      },
    );
    const result: unknown = text === undefined ? null : JSON.parse(text);
    if (odd !== undefined) throw new InvalidResult(`the result is not JSON: see '${odd}'`);
    assertJson(result, { where: 'result' });
    return result;
  } catch (error) {
    if (error instanceof InvalidResult) throw error;
    if (error instanceof InvalidJson)
      throw new InvalidResult(`the result is not JSON: ${error.message}`);
    throw new InvalidResult('the result cannot be written as JSON');
  }
}

/** `true` if JSON.stringify keeps a value. It leaves out undefined members. */
function isJsonLike(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return false;
  if (!isRecord(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null || value instanceof Date;
}
