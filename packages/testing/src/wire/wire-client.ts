import { WireCut, type Channel, type Fields, type Listener, type AuthInfo } from './channel/channel.ts';
import { multiRoundTrip } from './drives/multi-round-trip.ts';
import { push } from './drives/push.ts';
import { resumableRequests } from './drives/resumable-requests.ts';
import { resumeToken, toTheEnd } from './drives/resume-token.ts';
import { sagaMethods } from './drives/saga-methods.ts';
import { tasks } from './drives/tasks.ts';
import { maxRounds, type Drive, type Driving } from './drives/drive.ts';
import type { Answerer, WireAnswers } from './channel/wire-answers.ts';
import type { WireDialect, WireEra } from './channel/ways.ts';

const drives: Readonly<Record<WireDialect, Drive>> = {
  'saga methods': sagaMethods,
  'multi round-trip': toTheEnd(multiRoundTrip),
  push: toTheEnd(push),
  'resume token': toTheEnd(resumeToken),
  'resumable requests': toTheEnd(resumableRequests),
  tasks: toTheEnd(tasks),
};

/** Options of a client. */
export interface WireClientOptions {
  readonly dialect: WireDialect;
  /** Version of MCP. Default: the newest with its dialect. */
  readonly era?: WireEra;
  /** Answers by ID of the step, or a function of the question. Default: none. */
  readonly answers?: WireAnswers;
  /** User, from which the host makes a principal. Default: not authenticated. */
  readonly user?: string;
  /** Auth info of its requests. Default: made from `user`. */
  readonly authInfo?: AuthInfo;
  /** Declared capabilities. Default: those that its dialect needs. */
  readonly capabilities?: { readonly [name: string]: object };
  /** Changes each token before it is sent back, as an attacker might. */
  readonly token?: (token: string) => string;
  /** `again`: sends the request again after a cut (default). `throw`: fails. */
  readonly whenCut?: 'again' | 'throw';
}

/** Result of a tool. */
export interface WireResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Fields;
  readonly isError?: boolean;
  readonly [name: string]: unknown;
}

/** A request, and its result or error. */
export interface WireExchange {
  readonly method: string;
  readonly params: Fields;
  readonly result?: Fields;
  readonly error?: unknown;
}

/** Connection of a client to its host. */
export interface Surroundings {
  readonly channel: Channel;
  readonly answerer: Pick<Answerer, 'answer'>;
  /** Advances the clock, and waits for work behind the answers. */
  readonly wait: (ms: number) => Promise<void>;
  /** Wraps a call from start to end. Default: makes it. */
  readonly during?: <T>(call: () => Promise<T>) => Promise<T>;
}

/** A client in memory that writes its own messages, so that a test controls all that the server receives. */
export class WireClient {
  readonly options: WireClientOptions;
  /** Tokens that it received, oldest first. */
  readonly tokens: string[] = [];
  /** Requests that it sent, in order. */
  readonly exchanges: WireExchange[] = [];
  readonly #surroundings: Surroundings;

  constructor(options: WireClientOptions, surroundings: Surroundings) {
    this.options = options;
    this.#surroundings = surroundings;
  }

  /**
   * Calls a tool, answers its questions, waits if it must, and returns the result.
   *
   * @throws WireError the error of the server
   * @throws SagaTestError `unanswered`; `script` if a step of a planned cut never ran
   */
  async call(name: string, args: Fields = {}): Promise<WireResult> {
    const drive = drives[this.options.dialect];
    const call = (): Promise<Fields> => drive(this.#driving(), { name, arguments: args });
    const { during } = this.#surroundings;
    return (await (during === undefined ? call() : during(call))) as WireResult;
  }

  /** Sends a request with any method, and returns its result. */
  async send(method: string, params: Fields = {}, listener?: Listener): Promise<Fields> {
    try {
      const result = await this.#surroundings.channel.send(method, params, listener);
      this.exchanges.push({ method, params, result });
      return result;
    } catch (error) {
      this.exchanges.push({ method, params, error });
      throw error;
    } finally {
      // What goes on behind an answer has ended before the next request: a test sees no race.
      await this.#surroundings.wait(0);
    }
  }

  /** Closes its session, if it has one. */
  async close(): Promise<void> {
    await this.#surroundings.channel.close();
  }

  #driving(): Driving {
    const { token: change = (token: string) => token, whenCut = 'again' } = this.options;
    const onCut = (error: unknown): void => {
      if (!(error instanceof WireCut) || whenCut === 'throw') throw error;
    };
    return {
      answerer: this.#surroundings.answerer,
      wait: this.#surroundings.wait,
      onCut,
      sendOnce: (method, params, listener) => this.send(method, params, listener),
      send: async (method, params, listener) => {
        for (let tries = 1; ; tries += 1) {
          try {
            return await this.send(method, params, listener);
          } catch (error) {
            onCut(error);
            if (tries === maxRounds) throw error;
          }
        }
      },
      holds: (token) => {
        if (typeof token !== 'string') return token;
        this.tokens.push(token);
        return change(token);
      },
    };
  }
}
