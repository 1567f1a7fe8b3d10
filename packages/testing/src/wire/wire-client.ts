import type { NamesOf } from '@mcp-saga/server/internal';
import type {
  CallToolResult,
  Client,
  ClientCapabilities,
  Transport,
} from '@modelcontextprotocol/client';
import { assertKnownOptions } from '../values/known-options.ts';
import { WireCut } from './cutter.ts';
import { Answerer, type AskingHost, type WireAnswers } from './wire-client-answers.ts';

/** Version of MCP: with independent requests, or with a session in which the server asks. */
export type WireEra = '2026-07-28' | '2025-11-25';

/** Options of a client. */
export interface WireClientOptions {
  /** Version of MCP. @default '2026-07-28' */
  readonly era?: WireEra;
  /**
   * Answers by ID of the step, or a function of the question (required for an existing host).
   * Default: none.
   */
  readonly answers?: WireAnswers;
  /** User, from which the host makes a principal. Default: not authenticated. */
  readonly user?: string;
  /** Declared capabilities. Default: elicitation, sampling, and roots. */
  readonly capabilities?: ClientCapabilities;
  /**
   * `again`: sends the request again after a cut, except in a session. `throw`: fails. @default
   * 'again'
   */
  readonly whenCut?: 'again' | 'throw';
}

/** Server that a client reaches. */
export interface WireServer extends AskingHost {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  session(user?: string): Promise<Transport>;
}

const names: NamesOf<WireClientOptions> = {
  era: true,
  answers: true,
  user: true,
  capabilities: true,
  whenCut: true,
};
const everything: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
};
const maxRounds = 1_000;

/** The `Client` of the MCP SDK, in memory, with scripted answers. */
export class WireClient {
  readonly #host: WireServer;
  readonly #options: WireClientOptions;
  readonly #during: <T>(call: Promise<T>) => Promise<T>;
  #connected: Promise<Client> | undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(
    host: WireServer,
    options: WireClientOptions,
    during: <T>(call: Promise<T>) => Promise<T> = (call) => call,
  ) {
    assertKnownOptions('testHost().client', options, names);
    this.#host = host;
    this.#options = options;
    this.#during = during;
  }

  /**
   * Connects at the first call, and returns the `Client` of the SDK: for `callSaga`, prompts, and
   * resources.
   */
  connect(): Promise<Client> {
    return (this.#connected ??= this.#connect());
  }

  /**
   * Calls a tool, answers its questions, and returns the result.
   * @throws SagaTestError `unanswered` for a question without an answer, `script` if the step of a
   * planned cut never ran
   * @throws WireCut if the connection is cut and the client does not try again
   */
  async call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    const client = await this.connect();
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    return await this.#during(Promise.race([client.callTool({ name, arguments: args }), failed]));
  }

  async close(): Promise<void> {
    const client = await this.#connected;
    this.#connected = undefined;
    await client?.close();
  }

  async #connect(): Promise<Client> {
    const { era, answers = {}, user, capabilities = everything } = this.#options;
    const sdk = await import('@modelcontextprotocol/client');
    const isSession = era === '2025-11-25';
    const client = new sdk.Client(
      { name: 'test', version: '1' },
      {
        capabilities,
        versionNegotiation: { mode: isSession ? 'legacy' : 'auto' },
        inputRequired: { maxRounds },
      },
    );
    const answerer = new Answerer(answers, this.#host);
    const answer = async (question: { readonly method: string }): Promise<never> => {
      try {
        return (await answerer.answer(question)) as never;
      } catch (error) {
        this.#fail(error);
        throw error;
      }
    };
    if (capabilities.elicitation !== undefined)
      client.setRequestHandler('elicitation/create', answer);
    if (capabilities.sampling !== undefined)
      client.setRequestHandler('sampling/createMessage', answer);
    if (capabilities.roots !== undefined) client.setRequestHandler('roots/list', answer);
    const headers = user === undefined ? {} : { authorization: `Bearer ${user}` };
    await client.connect(
      isSession
        ? await this.#host.session(user)
        : new sdk.StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
            fetch: (url, init) => this.#fetch(url, init),
            requestInit: { headers },
          }),
    );
    return client;
  }

  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      try {
        const response = await this.#host.fetch(url, init);
        // Read to its end: a cut may come in the middle of a stream.
        return new Response(await response.text(), response);
      } catch (error) {
        const isFinal = !(error instanceof WireCut) || this.#options.whenCut === 'throw';
        if (isFinal || tries === maxRounds) throw error;
      }
    }
  }
}
