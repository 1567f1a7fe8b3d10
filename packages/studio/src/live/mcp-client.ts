import type { ClientStep } from '@mcp-saga/server';
import type { Form } from '@mcp-saga/testing/internal';
import type { Answer } from '../model/session.ts';

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Partial<Form>;
  readonly _meta?: Readonly<Record<string, { readonly methods?: readonly string[] }>>;
}

export type ToolList = { readonly tools: readonly Tool[] };

export function methodsOf({ _meta: meta = {} }: Pick<Tool, '_meta'>): readonly string[] {
  return Object.values(meta).flatMap(({ methods = [] }) => methods);
}

type RpcRequest = Readonly<Record<'id' | 'method', string>> & { readonly params: object };
type RpcResponse = {
  readonly result?: object;
  readonly error?: Pick<Error, 'message'> & { code: number };
};

const revision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const envelope = {
  [`${prefix}protocolVersion`]: revision,
  [`${prefix}clientInfo`]: { name: 'studio', version: '1' },
  [`${prefix}clientCapabilities`]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

/**
 * Sends a request of MCP over HTTP, with an access token unless it is ''. Throws the code and
 * message of an error response.
 */
export async function sendRequest<T>(
  path: string,
  bearer: string,
  request: RpcRequest,
): Promise<T> {
  const { id, method, params } = request;
  const response = await fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      'x-studio-request': id,
      ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope } }),
  });
  const { result, error } = toMessage(await response.text(), response.status);
  if (error !== undefined) throw new Error(`${error.code} ${error.message}`);
  return (result ?? {}) as T;
}

/** Reads the response: JSON, or the last event of a stream. */
function toMessage(text: string, status: number): RpcResponse {
  const event = text.split('\n').findLast((line) => line.startsWith('data:'));
  try {
    return JSON.parse(event?.slice('data:'.length) ?? text) as RpcResponse;
  } catch {
    throw new Error(`HTTP ${status} ${text.trim()}`);
  }
}

/** Response of a saga method; of a saga that has ended, without these fields. */
export type SagaReply = Readonly<{
  sagaToken?: string;
  steps?: readonly ClientStep[];
  retryAfterMs?: number;
}>;

export interface Sent {
  readonly id: string;
  readonly tool: string;
  /** ID of the request with the token of this one; undefined for a call. */
  readonly parent?: string;
  readonly method: 'tools/callSaga' | 'tools/resumeSaga' | 'tools/cancelSaga';
  /** Undefined after the response. */
  readonly params?: object;
  readonly reply?: SagaReply;
  readonly error?: string;
}

/** Converts an answer of the form to the answer of a step in MCP. */
export function toCompletedStep({ stepId, type }: ClientStep, { action, content }: Answer): object {
  const text = { type: 'text', text: content };
  if (type === 'roots') return { stepId, result: { roots: [] } };
  if (type === 'sampling')
    return { stepId, result: { role: 'assistant', model: 'studio', content: text } };
  return { stepId, result: action === 'accept' ? { action, content: content ?? {} } : { action } };
}
