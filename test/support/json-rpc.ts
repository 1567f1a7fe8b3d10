/** A JSON-RPC request as sent over the wire. */
export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly method: string;
  readonly params: { readonly [name: string]: unknown };
}

/** The raw response. */
export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly result?: { readonly [name: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Protocol era of a request. Requests since 2026-07-28 name their version. */
export type Era = 'legacy' | 'modern';

const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, sampling: {} },
};

/** Posts one request without an SDK, and reads the response from JSON or from an event stream. */
export async function post(
  url: URL | string,
  request: JsonRpcRequest,
  era: Era = 'legacy',
): Promise<JsonRpcResponse> {
  const isModern = era === 'modern';
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(isModern ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': request.method } : {}),
    },
    body: JSON.stringify(
      isModern ? { ...request, params: { ...request.params, _meta: modern } } : request,
    ),
  });
  const body = await response.text();
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) return JSON.parse(body) as JsonRpcResponse;
  if (!type.startsWith('text/event-stream'))
    throw new Error(`HTTP ${response.status}, ${type}: ${body}`);
  const messages = body
    .split(/\r?\n\r?\n/)
    .map((event) =>
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart())
        .join('\n'),
    )
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data) as JsonRpcResponse);
  const answer = messages.find(({ id }) => id === request.id);
  if (answer === undefined) throw new Error(`No answer to ${request.id} in: ${body}`);
  return answer;
}

/** Removes the fields that servers of the modern era add to every result. */
export function withoutMetadata(response: JsonRpcResponse): JsonRpcResponse {
  if (response.result === undefined) return response;
  const { resultType: _, _meta: __, ...result } = response.result;
  return { ...response, result };
}
