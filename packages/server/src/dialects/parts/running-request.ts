import { TurnAborted } from '@mcp-saga/core';
import type { ClientCall } from '../../model/call-types.ts';
import type { Caller } from '../../model/caller.ts';
import type { TokenOfTurn } from '../../token/saga-of-turn.ts';
import type { SagaHostCore } from '../../requests/host.ts';

/** End of a running request: its result, or the token from which the next request continues. */
type RequestEnd = { readonly result: object } | { readonly newest: string };

/** By the registry of a host, which all hosts of its tenants share; and by saga. */
const running = new WeakMap<SagaHostCore['registry'], Map<string, RunningRequest>>();

/**
 * A resumable request that runs in this process.
 *
 * Its client may resume it at any time: over stdio beside the running request, and over HTTP after
 * its connection was cut, which does not end a request. Two runs at once would repeat steps without
 * a guard, and report progress twice. So the resumed request waits for the running one, and returns
 * its result. If the running request can only wait for a client that has left it, it ends, and the
 * resumed request continues from its newest token. Both have one JSON-RPC ID, so the client would
 * take an error of the first for the response to the second: both return the same result.
 */
export class RunningRequest {
  /** Call with the signal of its client. Turns stop with it. */
  readonly call: ClientCall;
  readonly #all: Map<string, RunningRequest>;
  readonly #left = new AbortController();
  #turn: TokenOfTurn | undefined;
  /** Result of this request alone. */
  #end: Promise<object> | undefined;
  /** Result for the client, perhaps of the request that continues this one. */
  #result: Promise<object> | undefined;
  /** Resolves with the request that continues this one. Undefined if no request waits for it. */
  #next: Promise<RunningRequest> | undefined;
  #answerAs: (next: RunningRequest) => void = () => undefined;

  constructor({ registry }: Pick<SagaHostCore, 'registry'>, call: ClientCall) {
    this.call = call;
    this.#all = running.get(registry) ?? new Map();
    running.set(registry, this.#all);
  }

  /** Finds the request that runs a saga. Undefined if none runs in this process. */
  static of(
    { registry }: Pick<SagaHostCore, 'registry'>,
    sagaId: string,
  ): RunningRequest | undefined {
    return running.get(registry)?.get(sagaId);
  }

  /** Newest turn of the request. */
  get newest(): TokenOfTurn {
    // Only a request that has noted a turn can be found.
    return this.#turn as TokenOfTurn;
  }

  /** Notes the newest turn of the request. */
  note(turn: TokenOfTurn): void {
    this.#turn = turn;
    this.#all.set(turn.sagaId, this);
  }

  /** Answers the request. The call given to `answer` ends its questions and waits also for `end`. */
  run(answer: (call: ClientCall) => Promise<object>): Promise<object> {
    const caller: Caller = { ...this.call.caller, signal: this.#left.signal };
    this.#end = this.#answered(answer, { ...this.call, caller });
    this.#result = this.#orNext(this.#end);
    return this.#result;
  }

  /**
   * Waits for the end of the request, which `call` resumes. Throws its error. After `newest`, the
   * next request must run, and be passed to `answerAs`.
   */
  async end({ connection: { line } }: ClientCall): Promise<RequestEnd> {
    this.#next ??= new Promise((resolve) => {
      this.#answerAs = resolve;
    });
    // Only over a line that both share does the client still answer the question. Elsewhere, the
    // client has left the stream of the question, which many runtimes do not tell.
    if (line === undefined || line !== this.call.connection.line)
      this.#left.abort(new Error('The request was resumed.'));
    try {
      return { result: (await this.#end) as object };
    } catch (error) {
      if (!(error instanceof TurnAborted)) throw error;
      return { newest: this.newest.token };
    }
  }

  /** Answers this ended request like the request that continues it. */
  answerAs(next: RunningRequest): void {
    this.#answerAs(next);
  }

  async #orNext(end: Promise<object>): Promise<object> {
    try {
      return await end;
    } catch (error) {
      if (this.#next === undefined || !(error instanceof TurnAborted)) throw error;
      const next = await this.#next;
      return (await next.#result) as object;
    }
  }

  async #answered(
    answer: (call: ClientCall) => Promise<object>,
    call: ClientCall,
  ): Promise<object> {
    const { signal } = this.call.caller;
    const leave = (): void => this.#left.abort(signal?.reason);
    signal?.addEventListener('abort', leave);
    if (signal?.aborted === true) leave();
    try {
      return await answer(call);
    } finally {
      signal?.removeEventListener('abort', leave);
      const { sagaId = '' } = this.#turn ?? {};
      // The request that continues this one may already have taken its place.
      if (this.#all.get(sagaId) === this) this.#all.delete(sagaId);
    }
  }
}
