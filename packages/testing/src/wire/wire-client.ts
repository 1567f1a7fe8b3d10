import { WireCut, type Channel, type Fields, type Listener, type AuthInfo } from './channel/channel.ts';
import { multiRoundTrip } from './drives/multi-round-trip.ts';
import { push } from './drives/push.ts';
import { resumableRequests } from './drives/resumable-requests.ts';
import { resumeToken, toTheEnd } from './drives/resume-token.ts';
import { sagaMethods } from './drives/saga-methods.ts';
import { tasks } from './drives/tasks.ts';
import { maxRounds, type Drive, type Driving } from './channel/driving.ts';
import type { Answerer, WireAnswers } from './channel/wire-answers.ts';
import type { WireDialect, WireEra } from './channel/ways.ts';

/** How a client of each dialect sees a call through. */
const drives: Readonly<Record<WireDialect, Drive>> = {
  'saga methods': sagaMethods,
  'multi round-trip': toTheEnd(multiRoundTrip),
  push: toTheEnd(push),
  'resume token': toTheEnd(resumeToken),
  'resumable requests': toTheEnd(resumableRequests),
  tasks: toTheEnd(tasks),
};

/** How a client reaches a server, and who it is. */
export interface WireClientOptions {
  readonly dialect: WireDialect;
  /** Default: the newest in which its dialect is spoken. */
  readonly era?: WireEra;
  /** What it answers, by the id of the step that asks; or a function of the question. Default: nothing. */
  readonly answers?: WireAnswers;
  /** Who its user is: what a host makes a principal of. Default: nobody is authenticated. */
  readonly user?: string;
  /** The auth info of its requests, where a host reads it otherwise. Default: made of `user`. */
  readonly authInfo?: AuthInfo;
  /** What it declares. Default: what is needed to be served in its dialect. */
  readonly capabilities?: { readonly [name: string]: object };
  /** What it does to each token before it gives it back: nothing, or what an attacker does. */
  readonly token?: (token: string) => string;
  /** What it does when its connection is cut: sends the request `again` (default), or gives up. */
  readonly whenCut?: 'again' | 'throw';
}

/** What a tool gave. */
export interface WireResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Fields;
  readonly isError?: boolean;
  readonly [name: string]: unknown;
}

/** One request that a client sent, and what came of it. */
export interface WireExchange {
  readonly method: string;
  readonly params: Fields;
  readonly result?: Fields;
  readonly error?: unknown;
}

/** What a client shares with the host it was made by. */
export interface Surroundings {
  readonly channel: Channel;
  readonly answerer: Pick<Answerer, 'answer'>;
  /** Lets time pass, and what goes on behind the answers come to its end. */
  readonly wait: (ms: number) => Promise<void>;
  /** Has a call made, from its start to its end. Default: makes it. */
  readonly during?: <T>(call: () => Promise<T>) => Promise<T>;
}

/** A client in memory, which writes its messages by hand: all that a server sees of it is what it sends. */
export class WireClient {
  readonly options: WireClientOptions;
  /** The tokens it was given, oldest first. */
  readonly tokens: string[] = [];
  /** What it sent, in order. */
  readonly exchanges: WireExchange[] = [];
  readonly #surroundings: Surroundings;

  constructor(options: WireClientOptions, surroundings: Surroundings) {
    this.options = options;
    this.#surroundings = surroundings;
  }

  /**
   * Calls a tool, answers what it asks, waits where it has to, and gives its result.
   *
   * @throws WireError what the server answers instead
   * @throws SagaTestError `unanswered`; `script` where a step was never run that a cut was planned after
   */
  async call(name: string, args: Fields = {}): Promise<WireResult> {
    const drive = drives[this.options.dialect];
    const call = (): Promise<Fields> => drive(this.#driving(), { name, arguments: args });
    const { during } = this.#surroundings;
    return (await (during === undefined ? call() : during(call))) as WireResult;
  }

  /** Sends a request of any method, and gives its result. */
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

  /** Ends its session, where it has one. */
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
