/** Tool of the server, as clients see it. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: {
    readonly properties?: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
  };
  readonly _meta?: Readonly<Record<string, { readonly methods?: readonly string[] }>>;
}

type RpcResponse = { readonly result?: object; readonly error?: Pick<Error, 'message'> & { code: number } };

const revision = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';
const envelope = {
  [`${prefix}protocolVersion`]: revision,
  [`${prefix}clientInfo`]: { name: 'studio', version: '1' },
  [`${prefix}clientCapabilities`]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
};

/** Sends a request of MCP over HTTP. Throws the code and message of an error response. */
export async function sendRequest<T extends object>(
  path: string,
  { method, params, id, bearer }: RpcRequest,
): Promise<T> {
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

/** Request of the page. `bearer` is the access token, or empty. */
export type RpcRequest = Readonly<Record<'method' | 'id' | 'bearer', string>> & { readonly params: object };

/** Reads the response: JSON, or the last event of a stream. */
function toMessage(text: string, status: number): RpcResponse {
  const event = text.split('\n').findLast((line) => line.startsWith('data:'));
  try {
    return JSON.parse(event?.slice('data:'.length) ?? text) as RpcResponse;
  } catch {
    throw new Error(`HTTP ${status} ${text.trim()}`);
  }
}
