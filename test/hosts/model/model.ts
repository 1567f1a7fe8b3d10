import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scenario } from '../scenarios.ts';
import { anthropic } from './anthropic.ts';
import type { Conversation, ModelApi, Reply } from './conversation.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { nextReply, tokenIn } from './script.ts';

const apis: readonly ModelApi[] = [anthropic, openaiResponses, openaiChat, gemini];

// Without this delay, a waiting saga would cause thousands of calls.
const thinkingMs = 2_000;

/** Scripted model endpoint for hosts of all vendors. */
export class ScriptedModel {
  readonly #server: Server;
  #scenario: Scenario | undefined;
  #read = '';
  #calls = 0;
  #hasSpoken = false;

  private constructor() {
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  /** Listens on a free port of 127.0.0.1. */
  static async listen(): Promise<ScriptedModel> {
    const model = new ScriptedModel();
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  /** Base URL, without a path. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All messages of this scenario, as JSON. */
  get read(): string {
    return this.#read;
  }

  /** Number of tool calls in this scenario. */
  get calls(): number {
    return this.#calls;
  }

  /** `true` after the last call of this scenario. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** Begins a scenario, and discards the state of the previous one. */
  begin(scenario: Scenario): void {
    this.#scenario = scenario;
    this.#read = '';
    this.#calls = 0;
    this.#hasSpoken = false;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { url: path = '/', method } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const api = method === 'POST' ? apis.find((known) => known.matches(path)) : undefined;
    if (api === undefined) {
      // Hosts list models, count tokens, and report events.
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(otherAnswer(path)));
      return;
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { readonly model?: string };
    const { model = 'scripted' } = body;
    const conversation = api.read(body, path);
    const reply = await this.#reply(conversation);
    if (!conversation.isStreamed) {
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(api.whole(reply, model)));
      return;
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of api.events(reply, model)) {
      if (event !== undefined) outgoing.write(`event: ${event}\n`);
      outgoing.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    }
    outgoing.end();
  }

  async #reply(conversation: Conversation): Promise<Reply> {
    const scripted =
      this.#scenario === undefined ? undefined : nextReply(conversation, this.#scenario);
    // Hosts also ask their model for titles and similar texts.
    if (scripted === undefined) return { kind: 'text', text: 'Yes.' };
    this.#read = conversation.read;
    this.#hasSpoken = scripted.kind === 'text';
    if (scripted.kind === 'text') return scripted;
    const last = conversation.results.at(-1);
    if (last !== undefined && tokenIn(last) !== undefined) await thinking();
    this.#calls += 1;
    return scripted;
  }
}

function otherAnswer(path: string): object {
  if (/count_?tokens/i.test(path)) return { input_tokens: 10, totalTokens: 10 };
  return path.includes('/models') ? { object: 'list', data: [], models: [] } : {};
}

function thinking(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, thinkingMs);
  });
}
