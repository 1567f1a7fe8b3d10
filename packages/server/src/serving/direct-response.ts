import { isRecord } from '@mcp-saga/core/program';
import { isRequestId, type DirectMethod, type DirectRequest } from './direct-request.ts';
import { invalidField } from '../wire/errors.ts';
import type { Answer } from './late-stream.ts';

/** Name and version of a server, as in its responses. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

interface Fields {
  readonly [key: string]: unknown;
}

const serverInfoKey = 'io.modelcontextprotocol/serverInfo';
const internalError = -32_603;
const invalidParams = -32_602;
const missingCapability = -32_021;
const resourceNotFound = -32_002;

/** Encodes the result of a request as the SDK does. */
export function encodeResult(
  { id, method }: Pick<DirectRequest, 'id' | 'method'>,
  result: object,
  serverInfo: ServerInfo,
): Answer {
  const fault = faultOf(method, (result as Fields)['resultType']);
  if (fault !== undefined) return encodeError({ id }, new Error(fault));
  const message = { result: completeResult(result as Fields, serverInfo), jsonrpc: '2.0', id };
  return { status: 200, message };
}

/** Encodes an error of a handler as the SDK does. */
export function encodeError({ id }: Pick<DirectRequest, 'id'>, error: unknown): Answer {
  const { code: thrown, message = 'Internal error', data } = Object(error) as Fields;
  const given = Number.isSafeInteger(thrown) ? thrown : internalError;
  const code = given === resourceNotFound ? invalidParams : given;
  const status = code === missingCapability ? 400 : 200;
  const body = { code, message, ...(data === undefined ? {} : { data }) };
  return { status, message: { jsonrpc: '2.0', id, error: body } };
}

/** Refuses a request before its method is known, as the SDK refuses a bad `_meta`. */
export function refusalOf(body: unknown, problem: string): Response {
  const { id } = Object(body) as Fields;
  const error = { code: invalidParams, message: invalidField(problem).message };
  const message = { jsonrpc: '2.0', ...(isRequestId(id) ? { id } : {}), error };
  return toResponse({ status: 400, message });
}

/** Makes the response with an answer alone; without one, its client has disconnected. */
export function toResponse(answer: Answer | undefined): Response {
  // As the SDK answers a disconnected client.
  if (answer === undefined) return new Response(null, { status: 499 });
  // Not `Response.json`: servers for Node replace the global class by one with a fast constructor.
  return new Response(JSON.stringify(answer.message), {
    status: answer.status,
    headers: { 'Content-Type': 'application/json' },
  });
}

/**
 * Returns the fault of a result with a type other than its method supports. Authors can return such
 * results.
 */
function faultOf(method: DirectMethod, type: unknown): string | undefined {
  if (method === 'tools/call' || type === undefined || type === 'complete') return undefined;
  if (type !== 'input_required') return 'Internal error';
  return (
    `Handler for ${method} returned an input-required result, but only tools/call, prompts/get and resources/read ` +
    'support input_required (protocol revision 2026-07-28)'
  );
}

function completeResult(result: Fields, serverInfo: ServerInfo): Fields {
  const { _meta: meta, resultType = 'complete', capabilities } = result;
  const complete: { [key: string]: unknown } = Object.assign({}, result, { resultType });
  if (isRecord(capabilities) && 'tasks' in capabilities) {
    const { tasks: _, ...rest } = capabilities;
    complete['capabilities'] = rest;
  }
  if (meta === undefined) complete['_meta'] = { [serverInfoKey]: serverInfo };
  else if (isRecord(meta) && meta[serverInfoKey] === undefined)
    complete['_meta'] = { ...meta, [serverInfoKey]: serverInfo };
  return complete;
}
