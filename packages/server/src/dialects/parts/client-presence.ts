import type { ClientCall } from '../../model/call-types.ts';
import { neverAborted, sleep } from '../../settings/clock.ts';
import { whyUnanswered } from './client-errors.ts';

/** Time between two pings, and the time in which the client must answer one, in milliseconds. */
const pingEveryMs = 20_000;

/** Number of unanswered pings after which the client is gone. */
const maxUnanswered = 2;

/**
 * Notices that the client of a call is gone while it is asked.
 *
 * A person may think for hours, but the program that asks the person answers a `ping` at once. So a
 * client that answers no ping is gone, whatever its connection looks like: a crashed host behind a
 * proxy keeps an open socket for a long time. A closed connection is noticed without pings.
 *
 * While nothing is asked, nobody is missed: a step runs to its end, and MCP does not call a closed
 * connection a cancellation.
 */
export class ClientPresence {
  readonly #call: Pick<ClientCall, 'connection' | 'send'>;
  readonly #isAsking: () => boolean;
  readonly #onGone: () => void;
  readonly #ended = new AbortController();
  #unwatch: (() => void) | undefined;

  /** @param isAsking - `true` while a question is open */
  constructor(
    call: Pick<ClientCall, 'connection' | 'send'>,
    isAsking: () => boolean,
    onGone: () => void,
  ) {
    this.#call = call;
    this.#isAsking = isAsking;
    this.#onGone = onGone;
  }

  /** Begins to watch the client, with the first question of a call. Later calls do nothing. */
  begin(): void {
    if (this.#unwatch !== undefined) return this.#check();
    this.#unwatch = this.#call.connection.watch(() => this.#check());
    this.#check();
    void this.#ping();
  }

  /** Ends the watch. */
  end(): void {
    this.#unwatch?.();
    this.#ended.abort();
  }

  #check(): void {
    if (this.#isAsking() && this.#call.connection.isLost()) this.#gone();
  }

  #gone(): void {
    this.end();
    this.#onGone();
  }

  async #ping(): Promise<void> {
    const { signal } = this.#ended;
    await sleep(pingEveryMs, signal);
    for (let unanswered = 0; !signal.aborted;) {
      this.#check();
      const asks = this.#isAsking();
      const [isAnswered] = await Promise.all([
        asks ? this.#isAnswered() : true,
        sleep(pingEveryMs, signal),
      ]);
      unanswered = isAnswered ? 0 : unanswered + 1;
      if (unanswered >= maxUnanswered && !signal.aborted) return this.#gone();
    }
  }

  async #isAnswered(): Promise<boolean> {
    try {
      const options = { timeout: pingEveryMs, signal: neverAborted() };
      await this.#call.send({ method: 'ping', params: {} }, options);
      return true;
    } catch (error) {
      // A client without pings answers with an error, and is there.
      return whyUnanswered(error) === undefined;
    }
  }
}
