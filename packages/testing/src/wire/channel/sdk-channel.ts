import type { Transport } from '@modelcontextprotocol/client';
import type * as sdkModule from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import {
  resultOf,
  WireCut,
  type AuthInfo,
  type Channel,
  type Fields,
  type Listener,
  type WireMessage,
} from './channel.ts';
import type { Cutter } from './cutter.ts';
import type { WireEra } from './ways.ts';

/** Server module of the MCP SDK, loaded with the first request. */
export type Sdk = typeof sdkModule;

export interface ChannelOptions {
  readonly era: WireEra;
  readonly capabilities: object;
  readonly authInfo: AuthInfo | undefined;
  /** Makes a server for one request, or for a session. */
  readonly createServer: (sdk: Sdk) => McpServer;
  readonly cutter: Cutter;
  /** `true` for one connection with a handshake; `false` for a connection per request. */
  readonly inSession: boolean;
}

/** Name and version of the clients and servers of a test. */
export const info: { readonly name: string; readonly version: string } = { name: 'test', version: '1' };

/** Connects to a server in memory with the SDK's transports. Not its `Client`: a resumed request keeps its request ID. */
export class SdkChannel implements Channel {
  readonly #options: ChannelOptions;
  #session: Promise<Connection> | undefined;
  #sent = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  async send(method: string, params: Fields, listener: Listener = {}): Promise<Fields> {
    const { cutter, inSession } = this.#options;
    const connecting = inSession ? (this.#session ??= this.#openSession()) : this.#open();
    const cut = async (): Promise<void> => {
      this.#session = undefined;
      await (await connecting).cut();
    };
    const closed = cutter.opened(() => void cut());
    const isLost = cutter.sending();
    try {
      const connection = await connecting;
      const { id = ++this.#sent } = listener;
      const sent = inSession ? params : this.#enveloped(params);
      const answer = await connection.request({ id, method, params: sent }, listener);
      if (!isLost) return resultOf(answer);
      await cut();
      throw new WireCut();
    } finally {
      closed();
      if (!inSession) await (await connecting).transport.close();
    }
  }

  async close(): Promise<void> {
    const session = await this.#session;
    this.#session = undefined;
    await session?.transport.close();
  }

  async #open(): Promise<Connection> {
    const { createServer, authInfo, era: protocolVersion } = this.#options;
    const [sdk, client] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/client'),
    ]);
    const handler = sdk.createMcpHandler(() => createServer(sdk));
    const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await handler.fetch(
        new Request(url, init),
        authInfo === undefined ? {} : { authInfo },
      );
      // The transport takes other statuses for errors of HTTP; the error of MCP is in the body.
      return response.ok ? response : new Response(response.body, { headers: response.headers });
    };
    const url = new URL('http://localhost/mcp');
    return await connected(new client.StreamableHTTPClientTransport(url, { fetch, protocolVersion }));
  }

  async #openSession(): Promise<Connection> {
    const { createServer, capabilities, era: protocolVersion, authInfo } = this.#options;
    const sdk = await import('@modelcontextprotocol/server');
    const [near, far] = sdk.InMemoryTransport.createLinkedPair();
    await createServer(sdk).connect(far);
    const connection = await connected(near, authInfo === undefined ? {} : { authInfo });
    const params = { protocolVersion, capabilities, clientInfo: info };
    await connection.request({ id: ++this.#sent, method: 'initialize', params }, {});
    await connection.post({ method: 'notifications/initialized' });
    return connection;
  }

  /** Adds the facts of the client that a session would know. */
  #enveloped({ _meta: own, ...params }: Fields): Fields {
    const { era, capabilities } = this.#options;
    const prefix = 'io.modelcontextprotocol/';
    const meta = {
      ...(era === '2026-07-28' ? { [`${prefix}protocolVersion`]: era, [`${prefix}clientInfo`]: info } : {}),
      [`${prefix}clientCapabilities`]: capabilities,
      ...(own as object | undefined),
    };
    return { ...params, _meta: meta };
  }
}

interface Waiting {
  readonly resolve: (answer: WireMessage) => void;
  readonly reject: (error: unknown) => void;
  readonly listener: Listener;
}

class Connection {
  readonly transport: Transport;
  readonly #sendOptions: object;
  readonly #waiting = new Map<string | number, Waiting>();

  constructor(transport: Transport, sendOptions: object) {
    this.transport = transport;
    this.#sendOptions = sendOptions;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of MCP is no event target
    transport.onmessage = (message: unknown) => void this.#came(message as WireMessage);
  }

  async request(
    message: WireMessage & { readonly id: string | number },
    listener: Listener,
  ): Promise<WireMessage> {
    return await new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject, listener });
      this.post(message).catch(reject);
    });
  }

  async post(message: object): Promise<void> {
    const onRequestStreamEnd = (): void => void this.cut();
    await this.transport.send({ jsonrpc: '2.0', ...message } as never, {
      ...this.#sendOptions,
      onRequestStreamEnd,
    });
  }

  async cut(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new WireCut());
    await this.transport.close();
  }

  async #came(message: WireMessage): Promise<void> {
    const { id, method, params = {} } = message;
    if (method === undefined) {
      if (id === undefined) return;
      this.#waiting.get(id)?.resolve(message);
      this.#waiting.delete(id);
      return;
    }
    // In a connection of one client that waits for one answer, what comes belongs to it.
    const listener = [...this.#waiting.values()].at(-1)?.listener;
    if (id === undefined) {
      listener?.onNotification?.(method, params);
      return;
    }
    try {
      const result = (await listener?.onRequest?.(method, params)) ?? {};
      await this.post({ id, result });
    } catch (error) {
      await this.post({ id, error: { code: -32_603, message: String(Object(error).message) } });
      for (const waiting of this.#waiting.values()) waiting.reject(error);
    }
  }
}

async function connected(transport: Transport, sendOptions: object = {}): Promise<Connection> {
  const connection = new Connection(transport, sendOptions);
  await transport.start();
  return connection;
}
