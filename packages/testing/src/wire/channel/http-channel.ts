import type * as sdkModule from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import type { AuthInfo } from './auth-info.ts';
import { resultOf, WireCut, type Channel, type Fields, type Listener, type WireMessage } from './channel.ts';
import type { Cutter } from './cutter.ts';
import type { WireEra } from './ways.ts';

/** The MCP SDK, which is loaded when the first client sends something. */
export type Sdk = typeof sdkModule;

/** What a channel is made of. */
export interface ChannelOptions {
  readonly era: WireEra;
  readonly capabilities: object;
  readonly authInfo: AuthInfo | undefined;
  /** Makes the server of one request: nothing of it is there at the next one. */
  readonly createServer: (sdk: Sdk) => McpServer;
  readonly cutter: Cutter;
}

const url = 'http://localhost/mcp';
const prefix = 'io.modelcontextprotocol/';

/** JSON-RPC by hand over HTTP without a network: each request meets a server that knows nothing of the others. */
export class HttpChannel implements Channel {
  readonly #options: ChannelOptions;
  #sent = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  async send(method: string, params: Fields, { id, onNotification }: Listener = {}): Promise<Fields> {
    const sdk = await import('@modelcontextprotocol/server');
    const { createServer, cutter, authInfo } = this.#options;
    const gone = new AbortController();
    const closed = cutter.opened(() => gone.abort(new WireCut()));
    const isLost = cutter.sending();
    try {
      const handler = sdk.createMcpHandler(() => createServer(sdk));
      const request = this.#request(method, params, gone.signal, id);
      const answered = handler.fetch(request, authInfo === undefined ? {} : { authInfo });
      const response = await unlessGone(answered, gone.signal);
      let last: WireMessage | undefined;
      for await (const message of messagesIn(response, gone.signal)) {
        if (message.method === undefined) last = message;
        else onNotification?.(message.method, message.params ?? {});
      }
      if (isLost || last === undefined) throw new WireCut();
      return resultOf(last);
    } finally {
      closed();
    }
  }

  async close(): Promise<void> {
    // There is no connection between two requests.
  }

  #request(method: string, params: Fields, signal: AbortSignal, id: string | number = ++this.#sent): Request {
    const { era, capabilities } = this.#options;
    const isModern = era === '2026-07-28';
    const { _meta: own, ...rest } = params;
    const meta = {
      ...(isModern ? { [`${prefix}protocolVersion`]: era, [`${prefix}clientInfo`]: info } : {}),
      // Without a session nobody knows what an older client declared when it connected.
      [`${prefix}clientCapabilities`]: capabilities,
      ...(own as object | undefined),
    };
    const target = params['name'] ?? params['taskId'] ?? params['uri'];
    const body = { jsonrpc: '2.0', id, method, params: { ...rest, _meta: meta } };
    return new Request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': era,
        ...(isModern
          ? { 'mcp-method': method, ...(typeof target === 'string' ? { 'mcp-name': target } : {}) }
          : {}),
      },
      body: JSON.stringify(body),
      signal,
    });
  }
}

/** Who the clients of a test say they are. */
export const info: { readonly name: string; readonly version: string } = { name: 'test', version: '1' };

async function unlessGone<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const cut = (): void => reject(signal.reason as Error);
    if (signal.aborted) cut();
    signal.addEventListener('abort', cut, { once: true });
    work.then(resolve, reject);
  });
}

/** The messages of a response as they come: one of JSON, or a stream of them. */
async function* messagesIn(response: Response, signal: AbortSignal): AsyncGenerator<WireMessage> {
  const isStream = response.headers.get('content-type')?.includes('event-stream') === true;
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const { done, value } = await unlessGone(reader.read(), signal);
    rest += value === undefined ? '' : decoder.decode(value, { stream: true });
    const lines = isStream ? rest.split('\n') : done ? [`data: ${rest}`] : [];
    if (isStream) rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length)) as WireMessage;
    }
    if (done) return;
  }
}
