import { validateExchange } from '../docs/spec/validate-exchange.ts';
import {
  post,
  type Era,
  type Fetches,
  type RawMessage,
} from '../../packages/server/test/fixtures/raw.ts';

/** A request and its client's capabilities. */
export interface Sent {
  readonly method: string;
  readonly params: { readonly [name: string]: unknown };
  /** @default 1 */
  readonly id?: string | number;
  /** Declared capabilities of the client. @default none */
  readonly capabilities?: object;
  readonly progressToken?: string | number;
}

/**
 * Sends a request by hand and collects the messages of its answer: notifications, and the response
 * last. Validates the exchange of a saga method against the published schema.
 *
 * @param isEnough - cuts the connection after the first message for which it returns `true`.
 * Default: never
 */
export async function exchange(
  server: Fetches,
  era: Era,
  { method, params, id = 1, capabilities = {}, progressToken }: Sent,
  isEnough: (message: RawMessage) => boolean = () => false,
): Promise<readonly RawMessage[]> {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...(progressToken === undefined ? {} : { progressToken }),
    ...(params['_meta'] as object | undefined),
  };
  const cut = new AbortController();
  const headers: Record<string, string> =
    method === 'tools/call' && era === 'modern' ? { 'mcp-name': String(params['name']) } : {};
  const request = post(era, method, { ...params, _meta: meta }, id, {
    headers,
    signal: cut.signal,
  });
  const sent = (await request.clone().json()) as { readonly method: string };
  const response = await server.fetch(request);
  const messages: RawMessage[] = [];
  for await (const message of messagesOf(response)) {
    messages.push(message);
    if (isEnough(message)) break;
  }
  cut.abort();
  for (const message of messages.filter((one) => one.id !== undefined))
    validateExchange(sent, message);
  return messages;
}

/** The last message of an exchange: the response, unless the connection was cut. */
export async function respond(server: Fetches, era: Era, sent: Sent): Promise<RawMessage> {
  return (await exchange(server, era, sent)).at(-1) ?? {};
}

async function* messagesOf(response: Response): AsyncGenerator<RawMessage> {
  if (response.headers.get('content-type')?.includes('event-stream') !== true) {
    yield (await response.json()) as RawMessage;
    return;
  }
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('data: {')) yield JSON.parse(line.slice(6)) as RawMessage;
  }
}

/** Removes the fields that MCP 2026-07-28 adds to each result, and that the proposals leave out. */
export function bare({ result, error }: RawMessage): { readonly [name: string]: unknown } {
  if (result === undefined) return { error };
  const { resultType: _, _meta: __, ...shown } = result;
  return shown;
}

/** Expected error for a token that does not open. */
export function refusal(reason: string): object {
  return { error: { code: -32_602, data: { reason } } };
}

/** Returns the parts of a token that are readable without a key. */
export function readableIn(token: string): string {
  return token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    .join('\n');
}
