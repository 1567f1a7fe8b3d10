import { WireCut, type TestHost } from '@mcp-saga/testing';
import {
  Answerer,
  type WireAnswers,
} from '../../../packages/testing/src/wire/wire-client-answers.ts';
import type { Channel, Fields, Listener } from './channel.ts';
import { maxRounds, type Asked, type Drive, type Driving } from './drives/drive.ts';
import { multiRoundTrip } from './drives/multi-round-trip.ts';
import { push } from './drives/push.ts';
import { resumableRequests } from './drives/resumable-requests.ts';
import { resumeToken, toTheEnd } from './drives/resume-token.ts';
import { sagaMethods } from './drives/saga-methods.ts';
import { tasks } from './drives/tasks.ts';
import { SdkChannel } from './sdk-channel.ts';
import { capabilitiesOf, type WireDialect, type WireEra, type WireWay } from './ways.ts';

const drives: Readonly<Record<WireDialect, Drive>> = {
  'saga methods': sagaMethods,
  'multi round-trip': toTheEnd(multiRoundTrip),
  push: toTheEnd(push),
  'resume token': toTheEnd(resumeToken),
  'resumable requests': toTheEnd(resumableRequests),
  tasks: toTheEnd(tasks),
};

/** Options of a raw client. */
export interface RawClientOptions {
  readonly dialect: WireDialect;
  readonly era: WireEra;
  /** Answers by step ID, or a function of the question. Default: none. */
  readonly answers?: WireAnswers;
  readonly user?: string;
  /** Changes each token before it is sent back, as an attacker might. */
  readonly token?: (token: string) => string;
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
  readonly answerer: Asked;
  readonly wait: (ms: number) => Promise<void>;
}

/**
 * A client that writes its own messages in any dialect, so that a test controls all that the server
 * receives.
 */
export class RawClient {
  /** Received tokens, oldest first. */
  readonly tokens: string[] = [];
  /** Sent requests, in order. */
  readonly exchanges: WireExchange[] = [];
  readonly #options: Pick<RawClientOptions, 'dialect' | 'token'>;
  readonly #surroundings: Surroundings;

  constructor(options: Pick<RawClientOptions, 'dialect' | 'token'>, surroundings: Surroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
  }

  /**
   * Calls a tool, answers its questions, waits if it must, and returns the result.
   *
   * @param meta - metadata of each request of the call
   * @throws WireError the error of the server
   */
  async call(name: string, args: Fields = {}, meta?: Fields): Promise<WireResult> {
    return (await drives[this.#options.dialect](this.#driving(), {
      name,
      arguments: args,
      ...(meta === undefined ? {} : { _meta: meta }),
    })) as WireResult;
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
    }
  }

  /** Closes the session, if the client has one. */
  async close(): Promise<void> {
    await this.#surroundings.channel.close();
  }

  #driving(): Driving {
    const { token: change = (token: string) => token } = this.#options;
    const onCut = (error: unknown): void => {
      if (!(error instanceof WireCut)) throw error;
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

/** Makes a raw client of a host in memory. */
export function rawClient(host: TestHost, options: RawClientOptions): RawClient {
  const { dialect, era, answers = {}, user } = options;
  const way: WireWay = { dialect, era };
  return new RawClient(options, {
    channel: new SdkChannel({
      host,
      era,
      user,
      capabilities: capabilitiesOf(way),
      inSession: isInSession(way),
    }),
    answerer: new Answerer(answers, host),
    wait: (ms) => host.clock.sleep(ms),
  });
}

function isInSession({ dialect, era }: WireWay): boolean {
  return dialect === 'push' || (dialect === 'resumable requests' && era === '2025-11-25');
}
