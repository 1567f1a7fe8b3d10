import type { Form } from '@mcp-saga/testing/internal';

/** Tool of the server, as clients see it. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Partial<Form>;
  readonly _meta?: Readonly<Record<string, { readonly methods?: readonly string[] }>>;
}

/** Returns the saga methods of a tool. */
export function methodsOf({ _meta: meta = {} }: Pick<Tool, '_meta'>): readonly string[] {
  return Object.values(meta).flatMap(({ methods = [] }) => methods);
}

type RpcRequest = Readonly<Record<'id' | 'method', string>> & { readonly params: object };
type RpcResponse = { readonly result?: object; readonly error?: Pick<Error, 'message'> & { code: number } };

const revision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const envelope = {
  [`${prefix}protocolVersion`]: revision,
  [`${prefix}clientInfo`]: { name: 'studio', version: '1' },
  [`${prefix}clientCapabilities`]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

/** Sends a request of MCP over HTTP, with an access token unless it is ''. Throws the code and message of an error response. */
export async function sendRequest<T>(path: string, bearer: string, request: RpcRequest): Promise<T> {
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
