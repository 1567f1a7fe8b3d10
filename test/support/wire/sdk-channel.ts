import { WireCut, type TestHost } from '@mcp-saga/testing';
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { resultOf, type Channel, type Fields, type Listener, type WireMessage } from './channel.ts';
import type { WireEra } from './ways.ts';

export interface ChannelOptions {
  readonly host: TestHost;
  readonly era: WireEra;
  readonly user: string | undefined;
  readonly capabilities: object;
  /** `true` for one connection with a handshake; `false` for a connection per request. */
  readonly inSession: boolean;
}

const info = { name: 'test', version: '1' };

/**
 * Connects to a server in memory, without the SDK's `Client`: a resumed request must keep its
 * request ID.
 */
export class SdkChannel implements Channel {
  readonly #options: ChannelOptions;
  #session: Promise<Connection> | undefined;
  #sent = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  async send(method: string, params: Fields, listener: Listener = {}): Promise<Fields> {
    const { inSession } = this.#options;
    const connection = await (inSession ? (this.#session ??= this.#openSession()) : this.#open());
    try {
      const { id = ++this.#sent } = listener;
      const sent = inSession ? params : this.#enveloped(params);
      return resultOf(await connection.request({ id, method, params: sent }, listener));
    } finally {
      if (!inSession) await connection.transport.close();
    }
  }

  async close(): Promise<void> {
    const session = await this.#session;
    this.#session = undefined;
    await session?.transport.close();
  }

  async #open(): Promise<Connection> {
    const { host, user, era: protocolVersion } = this.#options;
    const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
      const response = await host.fetch(url, init);
      // The transport treats other statuses as HTTP errors, but the body contains the MCP error.
      return response.ok ? response : new Response(response.body, { headers: response.headers });
    };
    const requestInit = user === undefined ? {} : { headers: { authorization: `Bearer ${user}` } };
    const url = new URL('http://localhost/mcp');
    return await connected(
      new StreamableHTTPClientTransport(url, { fetch, protocolVersion, requestInit }),
    );
  }

  async #openSession(): Promise<Connection> {
    const { host, user, capabilities, era: protocolVersion } = this.#options;
    const connection = await connected(await host.session(user));
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- an MCP transport is not an event target
    connection.transport.onclose = () => {
      this.#session = undefined;
      void connection.cut();
    };
    const params = { protocolVersion, capabilities, clientInfo: info };
    await connection.request({ id: ++this.#sent, method: 'initialize', params }, {});
    await connection.post({ method: 'notifications/initialized' });
    return connection;
  }

  /** Adds the client's data that a session would store. */
  #enveloped({ _meta: own, ...params }: Fields): Fields {
    const { era, capabilities } = this.#options;
    const prefix = 'io.modelcontextprotocol/';
    const meta = {
      ...(era === '2026-07-28'
        ? { [`${prefix}protocolVersion`]: era, [`${prefix}clientInfo`]: info }
        : {}),
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
  readonly #waiting = new Map<string | number, Waiting>();

  constructor(transport: Transport) {
    this.transport = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- an MCP transport is not an event target
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
    await this.transport.send({ jsonrpc: '2.0', ...message } as never, { onRequestStreamEnd });
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
    // With one client and one open request, every message belongs to that request.
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

async function connected(transport: Transport): Promise<Connection> {
  const connection = new Connection(transport);
  await transport.start();
  return connection;
}
