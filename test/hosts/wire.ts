import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { forward, passOn, readRequest } from '../chaos/proxy/forward.ts';

/** A JSON-RPC message and its sender. */
export interface Frame {
  readonly from: 'client' | 'server';
  readonly message: Message;
}

/** A JSON-RPC message. */
export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

/** A proxy that sends every request to the next server process, and records all messages. */
export class Wire {
  readonly #server: Server;
  readonly #targets: readonly URL[];
  #turn = 0;
  #frames: Frame[] = [];
  #cuts = false;

  private constructor(targets: readonly URL[]) {
    this.#targets = targets;
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  /** Listens on a free port of 127.0.0.1. */
  static async listen(targets: readonly URL[]): Promise<Wire> {
    const wire = new Wire(targets);
    wire.#server.listen(0, '127.0.0.1');
    await once(wire.#server, 'listening');
    return wire;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  /** All messages since `clear`. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Forgets all messages.
   * @param cuts - `true` to lose the response to the next call of a tool
   */
  clear(cuts: boolean): void {
    this.#frames = [];
    this.#cuts = cuts;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    this.#record('client', request.body.toString());
    this.#turn += 1;
    const sent = forward(request, this.#targets[this.#turn % this.#targets.length]!);
    outgoing.once('close', () => sent.cut());
    const response = await sent.response;
    if (this.#cuts && request.body.includes('"tools/call"')) {
      this.#cuts = false;
      // The server has done its work, and nobody gets the response.
      response.resume();
      await once(response, 'close');
      outgoing.destroy();
      return;
    }
    this.#tap(response);
    passOn(response, outgoing);
  }

  #tap(response: IncomingMessage): void {
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
    const decoder = new TextDecoder();
    let unread = '';
    response.on('data', (chunk: Buffer) => {
      unread += decoder.decode(chunk, { stream: true });
      if (!isStream) return;
      const lines = unread.split('\n');
      unread = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data:')) this.#record('server', line.slice('data:'.length));
    });
    response.once('close', () => {
      if (!isStream) this.#record('server', unread);
    });
  }

  #record(from: Frame['from'], text: string): void {
    if (text.trim() === '') return;
    try {
      for (const message of [JSON.parse(text) as Message | Message[]].flat())
        this.#frames.push({ from, message });
    } catch {
      // Not a message: a rejection by HTTP status, or a comment in a stream.
    }
  }
}
