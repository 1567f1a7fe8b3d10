import type { McpServer } from '@modelcontextprotocol/server';
import { resultOf, WireCut, type Channel, type Fields, type Listener, type WireMessage } from './channel.ts';
import type { AuthInfo } from './auth-info.ts';
import { info, type ChannelOptions } from './http-channel.ts';

type Transport = Parameters<McpServer['connect']>[0];

interface Waiting {
  readonly resolve: (result: Fields) => void;
  readonly reject: (error: unknown) => void;
  readonly listener: Listener;
  readonly isLost: boolean;
}

/** JSON-RPC by hand in a session: a connection with a handshake, over which the server sends requests as well. */
export class SessionChannel implements Channel {
  readonly #options: ChannelOptions;
  readonly #waiting = new Map<string | number, Waiting>();
  #transport: Transport | undefined;
  #sent = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  async send(method: string, params: Fields, listener: Listener = {}): Promise<Fields> {
    const closed = this.#options.cutter.opened(() => void this.#cut());
    const isLost = this.#options.cutter.sending();
    try {
      await this.#connected();
      return await this.#request(method, params, listener, isLost);
    } finally {
      closed();
    }
  }

  async close(): Promise<void> {
    await this.#transport?.close();
    this.#transport = undefined;
  }

  async #connected(): Promise<void> {
    if (this.#transport !== undefined) return;
    const sdk = await import('@modelcontextprotocol/server');
    const [near, far] = sdk.InMemoryTransport.createLinkedPair();
    await this.#options.createServer(sdk).connect(far);
    this.#transport = near;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of MCP is no event target
    near.onmessage = (message) => void this.#came(message as WireMessage);
    await near.start();
    const { capabilities, era: protocolVersion } = this.#options;
    await this.#request('initialize', { protocolVersion, capabilities, clientInfo: info }, {}, false);
    await this.#post({ method: 'notifications/initialized' });
  }

  async #request(method: string, params: Fields, listener: Listener, isLost: boolean): Promise<Fields> {
    const { id = ++this.#sent } = listener;
    const answered = new Promise<Fields>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, listener, isLost });
    });
    await this.#post({ id, method, params });
    return await answered;
  }

  async #post(message: object): Promise<void> {
    const { authInfo } = this.#options;
    await this.#transport?.send({ jsonrpc: '2.0', ...message } as never, authInfoOf(authInfo));
  }

  async #came({ id, method, params = {}, ...answer }: WireMessage): Promise<void> {
    if (method === undefined) {
      const waiting = id === undefined ? undefined : this.#waiting.get(id);
      if (id === undefined || waiting === undefined) return;
      if (waiting.isLost) {
        await this.#cut();
        return;
      }
      this.#waiting.delete(id);
      try {
        waiting.resolve(resultOf(answer));
      } catch (error) {
        waiting.reject(error);
      }
      return;
    }
    // In a session of one client that waits for one answer, what comes belongs to it.
    const listener = [...this.#waiting.values()].at(-1)?.listener;
    if (id === undefined) {
      listener?.onNotification?.(method, params);
      return;
    }
    try {
      const result = (await listener?.onRequest?.(method, params)) ?? {};
      await this.#post({ id, result });
    } catch (error) {
      await this.#post({ id, error: { code: -32_603, message: String(Object(error).message) } });
      for (const waiting of this.#waiting.values()) waiting.reject(error);
    }
  }

  async #cut(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    await this.close();
    for (const { reject } of waiting) reject(new WireCut());
  }
}

function authInfoOf(authInfo: AuthInfo | undefined): object {
  return authInfo === undefined ? {} : { authInfo };
}
